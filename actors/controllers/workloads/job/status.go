package job

import (
	"context"
	"fmt"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
)

// write counts terminated Pods and writes the status. If finalizers must be removed, it first
// writes the Pods to uncountedTerminatedPods, and increments the counters in a second write after
// the removal. After a crash in between, the next reconciliation completes the work.
func (t *turn) write(ctx context.Context) error {
	tracked := map[string]bool{}
	for _, p := range t.pods {
		if now := t.Pods.Get(p.Key); now != nil && now.UID == p.UID && now.Tracked {
			tracked[p.UID] = true
		}
	}
	countUncounted(t.status, tracked) // left over from an interrupted turn
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
	// Store the backoff only after the status lists the Pods, because after an error the next
	// reconciliation counts them again.
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

// drop removes the finalizers of Pods that the status lists, and removes the Pods from tracked. A
// Pod that keeps its finalizer because of an error stays in tracked and is not counted yet.
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

// flush writes the status if it has changed. It keeps the response, so that a second write does not
// conflict with the first.
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
