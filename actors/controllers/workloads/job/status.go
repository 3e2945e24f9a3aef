package job

import (
	"context"
	"fmt"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
)

// write counts Pods that have ended and writes the status: once, or twice if Pods lose their finalizer in between.
// The first write lists the uids, before any finalizer is removed; the second one takes them out and raises the numbers.
// A process that ends between the two leaves uids without finalizers, which countUncounted at the beginning of its next turn
// counts.
func (t *turn) write(ctx context.Context) error {
	tracked := map[string]bool{}
	for _, p := range t.pods {
		if now := t.Pods.Get(p.Key); now != nil && now.UID == p.UID && now.Tracked {
			tracked[p.UID] = true
		}
	}
	countUncounted(t.status, tracked) // what a turn before has not come to
	release, more := t.track()
	t.announce()
	if len(release) > 0 {
		if err := t.flush(ctx); err != nil {
			return err
		}
		if err := t.drop(ctx, release, tracked); err != nil {
			return err
		}
		countUncounted(t.status, tracked)
	}
	// Only after the Pods were listed: an error before leaves them new for the next turn, which would add them a second
	// time.
	t.backoffs.set(t.item.UID, t.backoff)
	ended := !more && t.end()
	if err := t.flush(ctx); err != nil {
		return err
	}
	if ended {
		t.tellEnd()
	} else if more {
		t.Add(t.item.Key)
	}
	return nil
}

// drop removes finalizers.
// drop removes finalizers of Pods that the status lists, and notes in tracked which of them are gone. A Pod whose
// finalizer could not be removed stays in tracked, and is therefore not counted yet.
func (t *turn) drop(ctx context.Context, pods []*cluster.Pod, tracked map[string]bool) error {
	var mu sync.Mutex
	return reconcile.ForEachParallel(pods, func(p *cluster.Pod) error {
		if err := t.Untrack(ctx, p); err != nil {
			return fmt.Errorf("removing tracking finalizer: %w", err)
		}
		mu.Lock()
		defer mu.Unlock()
		delete(tracked, p.UID)
		return nil
	})
}

// flush writes the status, if it is another one than is stored.
// It goes on with what the store has answered, so that a second write in the same turn names the new version.
func (t *turn) flush(ctx context.Context) error {
	o, err := t.jobs.WriteStatus(ctx, t.tree, t.status)
	if err != nil || o == nil {
		return err
	}
	if t.tree, err = t.jobs.Decode(o); err != nil {
		return err
	}
	t.status = t.tree.Object("status").Copy()
	t.status.EnsureObject("uncountedTerminatedPods")
	return nil
}

// tellEnd tells by an Event how the Job has ended, after the status that says so was written.
func (t *turn) tellEnd() {
	if t.finish.String("type") != complete {
		t.Warn(t.finish.String("reason"), "%s", t.finish.String("message"))
		return
	}
	if n, ok := t.spec.Int("completions"); ok && number(t.status, "succeeded") > n {
		t.Warn("TooManySucceededPods", "Too many succeeded pods running after completion count reached")
	}
	t.Normal("Completed", "Job completed")
}
