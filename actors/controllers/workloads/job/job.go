package job

import (
	"context"
	"errors"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Controller runs Jobs to completion. A second work queue holds Pods that no Job counts, for
// example because their Job was deleted. Their finalizers must be removed, so that the Pods can be
// deleted.
type Controller struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	jobs     *reconcile.Cache[*reconcile.Item]
	recorder *reconcile.Recorder
	orphans  *reconcile.Controller[meta.Key] // Pods with the finalizer that no Job counts
	backoffs backoffs
	managed  string // the value of spec.managedBy for this controller
}

// burst is the maximum number of Pods created or deleted for a Job in one reconciliation. It limits
// how long a Job occupies a worker. A Job that ends or is suspended deletes all active Pods
// regardless.
const burst = 500

// New returns a Controller. It finds orphaned Pods when their Job is deleted, and when a Pod with
// the finalizer has no Job in the cache.
func New(c *cluster.Cluster) *Controller {
	j := &Controller{
		Cluster: c, jobs: c.Items("batch", "v1", "Job"), recorder: c.Recorder("job-controller"),
		backoffs: backoffs{all: map[string]backoff{}}, managed: c.Naming.Translate("platform.io/job-controller"),
	}
	j.Controller = c.Workloads("job", j.jobs, j.reconcile, c.Pods)
	j.orphans = c.Controller("job_orphan_pod", j.release)
	j.Go(j.orphans.Run)

	reconcile.FollowDependents(j.Controller, c.Pods, j.jobs)
	reconcile.On(j.Controller, j.jobs, j.abandon)
	reconcile.On(j.Controller, c.Pods, func(_, now *cluster.Pod) {
		if now != nil && now.Tracked && j.jobs.Controlled(now.Key.Namespace, now.Head.Controller) == nil {
			j.orphans.Add(now.Key)
		}
	})
	return j
}

func (j *Controller) abandon(old, now *reconcile.Item) {
	if old == nil || now != nil && now.UID == old.UID {
		return
	}
	j.backoffs.set(old.UID, backoff{})
	for _, p := range j.Pods.OwnedBy(old.UID) {
		if p.Tracked {
			j.orphans.Add(p.Key)
		}
	}
}

// release removes the finalizer of a Pod that no Job counts. It first checks that no unfinished Job
// controls the Pod, because that Job would still count it.
func (j *Controller) release(ctx context.Context, key meta.Key) error {
	p := j.Pods.Get(key)
	if p == nil || !p.Tracked {
		return nil
	}
	if item := j.jobs.Controlled(key.Namespace, p.Head.Controller); item != nil {
		if t, err := item.Tree(); err != nil || finished(t.Object("status")) == nil {
			return err
		}
	}
	return j.Untrack(ctx, p)
}

// reconcile processes one Job. It ignores Jobs that spec.managedBy assigns to another controller,
// because two controllers would overwrite each other's status.
func (j *Controller) reconcile(ctx context.Context, item *reconcile.Item, t tree.Tree) error {
	if by := t.Object("spec").String("managedBy"); by != "" && by != j.managed {
		return nil
	}
	if finished(t.Object("status")) != nil {
		j.backoffs.set(item.UID, backoff{})
		for _, p := range j.Pods.OwnedBy(item.UID) {
			if p.Tracked {
				j.orphans.Add(p.Key)
			}
		}
		return nil
	}
	// Adoption adds the finalizer in the same write, so that every uncounted Pod of a Job has it.
	claimer := reconcile.NewClaimer(item)
	claimer.Finalizer = j.Names.JobTracking
	pods, err := reconcile.ClaimAll(ctx, claimer, j.Pods)
	if err != nil {
		return err
	}
	return (&turn{Controller: j, Reporter: j.recorder.About(item), item: item, tree: t}).take(ctx, pods)
}

// A turn is one reconciliation of a Job by one worker. Functions that write several Pods in
// parallel lock their own counters.
type turn struct {
	*Controller
	*state
	reconcile.Reporter
	item     *reconcile.Item
	tree     tree.Tree // as stored
	verdicts map[string]verdict
	backoff  backoff
}

// take decides whether the Job ends, then creates or deletes Pods, and finally writes the status.
// It writes the status even if changing Pods fails, because finished Pods must be counted.
func (t *turn) take(ctx context.Context, pods []*cluster.Pod) error {
	t.verdicts = map[string]verdict{}
	if err := t.applyFailurePolicy(ctx, pods); err != nil {
		return err
	}
	t.state = newState(t.tree, t.latest(pods), t.Names, func(p *cluster.Pod) verdict {
		if v, ok := t.verdicts[p.UID]; ok {
			return v
		}
		return verdict{counts: true}
	}, t.Now())
	if !t.status.Has("startTime") && !t.suspended() {
		t.status["startTime"] = reconcile.Stamp(t.now)
	}
	t.backoff = t.backoffs.get(t.item.UID).after(t.newSucceeded, t.newFailed)
	t.decide()
	active, changed, fault := t.act(ctx)
	t.status["active"], t.status["ready"], t.status["terminating"] = active, t.ready, t.going
	if left := t.untilDeadline(); left > 0 && t.finish == nil {
		t.Controller.AddAfter(t.item.Key, left)
	}
	if err := t.write(ctx); err != nil {
		return errors.Join(fault, err)
	}
	if changed {
		t.tellSuspended()
	}
	return fault
}

// latest returns the newest cached versions of pods. The older version of a just adopted Pod lacks
// the finalizer, so the Pod would be treated as already counted.
func (t *turn) latest(pods []*cluster.Pod) []*cluster.Pod {
	now := make([]*cluster.Pod, 0, len(pods))
	for _, p := range pods {
		if q := t.Pods.Get(p.Key); q != nil && q.UID == p.UID {
			now = append(now, q)
		}
	}
	return now
}

// applyFailurePolicy evaluates the policy for failed and terminating Pods. It reads the Pods from
// the store, because the cached views omit exit codes and conditions.
func (t *turn) applyFailurePolicy(ctx context.Context, pods []*cluster.Pod) error {
	policy := t.tree.Object("spec", "podFailurePolicy")
	if policy == nil {
		return nil
	}
	for _, p := range pods {
		if p.Phase != cluster.PodFailed && !p.Terminating {
			continue
		}
		o, pod, err := t.Pods.Read(ctx, p.Key)
		if err != nil {
			return err
		}
		if o == nil || o.Meta.UID != p.UID {
			continue
		}
		t.verdicts[p.UID] = evaluateFailurePolicy(policy, pod)
	}
	return nil
}

// act creates and deletes Pods. It returns the resulting number of active Pods, and whether the Job
// was suspended or resumed. If the Job is ending, act only deletes the active Pods. After a failed
// delete, the Job does not end yet, because its final condition means that no Pod is running.
func (t *turn) act(ctx context.Context) (active int64, changed bool, err error) {
	if t.finish != nil {
		active, err = t.remove(ctx, t.active, false)
		if err != nil {
			t.finish = nil // set the condition only when no Pod is running
		}
		return active, false, err
	}
	active = int64(len(t.active))
	if !t.terminating {
		active, err = t.manage(ctx)
	}
	all := t.completions
	if !t.spec.Has("completions") {
		all = 1
	}
	if t.succeeded >= all && active == 0 {
		t.finish = t.condition(successMet, "CompletionsReached", "Reached expected number of succeeded pods")
		return active, false, err
	}
	if t.terminating {
		return active, false, err
	}
	if changed = t.setSuspended(); changed && !t.suspended() {
		t.status["startTime"] = reconcile.Stamp(t.now) // the deadline starts over
	}
	return active, changed, err
}

func (t *turn) tellSuspended() {
	if t.suspended() {
		t.Normal("Suspended", "Job suspended")
	} else {
		t.Normal("Resumed", "Job resumed")
	}
}
