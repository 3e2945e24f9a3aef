package job

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/tree"
)

// remove deletes Pods and returns the resulting number of active Pods, even after an error.
// uncounted is set for deletions due to a suspension or scale-down. remove then first removes the
// finalizers, so that the Pods are not counted as failures.
func (t *turn) remove(ctx context.Context, pods []*cluster.Pod, uncounted bool) (active int64, err error) {
	var mu sync.Mutex
	active = int64(len(t.active))
	err = reconcile.ForEachParallel(pods, func(p *cluster.Pod) error {
		if uncounted && p.Tracked {
			if err := t.Untrack(ctx, p); err != nil {
				return err
			}
		}
		if err := t.DeletePod(ctx, t.Reporter, p); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		active--
		if p.Ready {
			t.ready--
		}
		if t.Pods.Get(p.Key) != nil {
			t.going++
		}
		return nil
	})
	return active, err
}

// manage adjusts the number of running Pods. It never deletes and creates Pods in the same turn.
// With podReplacementPolicy Failed, it does not replace terminating Pods yet.
func (t *turn) manage(ctx context.Context) (active int64, err error) {
	active = int64(len(t.active))
	if t.suspended() {
		return t.remove(ctx, t.active, true)
	}
	wanted := t.wantedActive()
	if going := t.surplus(int(max(0, active-wanted))); len(going) > 0 {
		return t.remove(ctx, going[:min(len(going), burst)], true)
	}
	missing := wanted - active
	if t.replaceEnded {
		missing -= t.going
	}
	if missing <= 0 {
		return active, nil
	}
	// With backoffLimitPerIndex, each index has its own delay (see due), so that a failing index
	// does not delay the others.
	if wait := t.backoff.remaining(t.now); t.perIndex < 0 && wait > 0 {
		t.Controller.AddAfter(t.item.Key, wait)
		return active, nil
	}
	made, err := t.create(ctx, int(min(missing, burst)))
	return active + made, err
}

// create creates n Pods, for the first free indexes if the Job is indexed. It returns the number of
// created Pods, even after an error.
func (t *turn) create(ctx context.Context, n int) (made int64, err error) {
	var free []int
	if t.indexed {
		if free = t.due(t.pending(n)); len(free) == 0 {
			return 0, nil
		}
		n = len(free)
	}
	var mu sync.Mutex
	next := 0
	pod := t.pod()
	err = reconcile.SlowStart(n, func() error {
		index := -1
		mu.Lock()
		if t.indexed {
			index = free[next]
		}
		next++
		mu.Unlock()
		err := t.CreatePod(ctx, t.Reporter, t.item, t.podOf(pod, index))
		if reconcile.IsNamespaceTerminating(err) {
			return nil
		}
		if err == nil {
			mu.Lock()
			made++
			mu.Unlock()
		}
		return err
	})
	return made, err
}

// due returns the indexes for which a Pod may be created now. For the others, it requeues the Job
// after the shortest remaining backoff. The backoff survives restarts, because annotations of the
// failed Pods record the failures per index.
func (t *turn) due(pending []int) (now []int) {
	var wait time.Duration
	for _, i := range pending {
		p := t.delayed[i]
		if p == nil {
			now = append(now, i)
			continue
		}
		left := backoff{failures: p.IndexFails + p.IndexIgnored + 1, last: p.EndedAt}.remaining(t.now)
		if left == 0 {
			now = append(now, i)
		} else if wait == 0 || left < wait {
			wait = left
		}
	}
	if wait > 0 {
		t.Controller.AddAfter(t.item.Key, wait)
	}
	return now
}

// indexVariable is the environment variable with a container's index. The name is part of the API.
const indexVariable = "JOB_COMPLETION_INDEX"

// pod returns the template of the Job's Pods. It includes the finalizer, because a Pod that ends
// without it would never be counted. It keeps a user's value of the index variable.
func (t *turn) pod() tree.Tree {
	pod := cluster.PodOf(t.item, t.spec.Object("template"))
	metadata := pod.Object("metadata")
	finalizers := reconcile.WithoutItem(metadata.List("finalizers"), t.Names.JobTracking)
	metadata["finalizers"] = append(finalizers, t.Names.JobTracking)
	if !t.indexed {
		return pod
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range pod.Object("spec").Objects(list) {
			has := false
			for _, v := range c.Objects("env") {
				has = has || v.String("name") == indexVariable
			}
			if !has {
				from := tree.Tree{"fieldRef": tree.Tree{"fieldPath": "metadata.labels['" + t.Names.JobIndex + "']"}}
				c["env"] = append(c.List("env"), tree.Tree{"name": indexVariable, "valueFrom": from})
			}
		}
	}
	return pod
}

// podOf returns the Pod for an index, or a Pod without an index if index is negative. With
// backoffLimitPerIndex, only annotations record the failures of an index, and each new Pod inherits
// them from the failed one.
func (t *turn) podOf(pod tree.Tree, index int) tree.Tree {
	pod = pod.Copy()
	if index < 0 {
		return pod
	}
	metadata, n := pod.Object("metadata"), strconv.Itoa(index)
	metadata["generateName"] = indexedName(t.item.Key.Name, index)
	annotations := metadata.EnsureObject("annotations")
	annotations[t.Names.JobIndex] = n
	metadata.EnsureObject("labels")[t.Names.JobIndex] = n
	pod.Object("spec")["hostname"] = t.item.Key.Name + "-" + n
	if t.perIndex < 0 {
		return pod
	}
	// Ignored failures lengthen the delay, but do not count toward the limit.
	fails, ignored := 0, 0
	if p := t.delayed[index]; p != nil {
		if fails, ignored = p.IndexFails, p.IndexIgnored; t.verdict(p).counts {
			fails++
		} else {
			ignored++
		}
	}
	annotations[t.Names.IndexFailures] = strconv.Itoa(fails)
	if ignored > 0 {
		annotations[t.Names.IndexIgnored] = strconv.Itoa(ignored)
	}
	return pod
}
