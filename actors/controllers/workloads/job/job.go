package job

import (
	"context"
	"errors"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Controller runs Jobs to their end.
// It has two queues: one of Jobs, and one of Pods that must lose their finalizer although no Job counts them any more.
// Without the second one, Pods whose Job was deleted could never be deleted themselves.
type Controller struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	jobs     *reconcile.Cache[*reconcile.Item]
	recorder *reconcile.Recorder
	orphans  *reconcile.Controller[meta.Key] // Pods with the finalizer that no Job counts
	backoffs backoffs
	managed  string // the value of spec.managedBy that means this controller
}

// burst is how many Pods a Job creates or deletes in one turn.
// It bounds how long one Job keeps a worker; each change of a Pod brings the Job back to the queue for the rest. A Job
// that ends or is suspended deletes all its active Pods in one turn.
const burst = 500

// New makes the controller of Jobs.
// Besides the Jobs and their Pods it subscribes to two causes for orphans: a Job that is gone, and a Pod with the
// finalizer whose controller is no Job that is there.
func New(c *cluster.Cluster) *Controller {
	j := &Controller{
		Cluster: c, jobs: c.Items("batch", "v1", "Job"), recorder: c.Recorder("job-controller"),
		backoffs: backoffs{all: map[string]backoff{}}, managed: c.Naming.Translate("platform.io/job-controller"),
	}
	j.Controller = c.Workloads("job", j.jobs, j.reconcile, c.Pods)
	j.orphans = c.Controller("job_orphan_pod", j.release)
	j.Go(j.orphans.Run)

	reconcile.FollowDependents(j.Controller, c.Pods, j.jobs)
	j.jobs.Subscribe(j.abandon)
	c.Pods.Subscribe(func(_, now *cluster.Pod) {
		if now != nil && now.Tracked && j.jobs.Controlled(now.Key.Namespace, now.Head.Controller) == nil {
			j.orphans.Add(now.Key)
		}
	})
	return j
}

// abandon looks at the Pods of a Job that is gone or another one by now.
// A Job that was deleted and made again under the same name between two looks has another uid; the Pods of the first one
// are not those of the second.
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

// release removes the finalizer of a Pod that no Job counts.
// Everything is checked again here, as the Pod or its Job may have changed since the key was added. The finalizer is
// kept as long as a Job is there that has not ended, because that Job still has to count the Pod.
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

// reconcile takes one turn of one Job.
// A Job that another controller manages (spec.managedBy) is not touched at all, not even its status: two controllers
// that write the same status would undo each other's counts.
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
	// The finalizer is added in the write that adopts, so that no Pod of a Job is ever without it before it was counted.
	claimer := reconcile.NewClaimer(item)
	claimer.Finalizer = j.Names.JobTracking
	pods, err := reconcile.ClaimAll(ctx, claimer, j.Pods)
	if err != nil {
		return err
	}
	return (&turn{Controller: j, Reporter: j.recorder.About(item), item: item, tree: t}).take(ctx, pods)
}

// A turn is a state and what it is written to.
// It is used by one worker; only the functions that write to several Pods at once guard what they count with a lock of
// their own.
type turn struct {
	*Controller
	*state
	reconcile.Reporter
	item     *reconcile.Item
	tree     tree.Tree // as it is stored
	verdicts map[string]verdict
	backoff  backoff
}

// take does the turn: it reads the state, decides whether the Job ends, changes Pods, and writes the status last. The
// status is written even if changing Pods has failed, since Pods that have ended meanwhile must be counted.
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

// latest are the Pods as they are now, after some were adopted.
// An adopted Pod got a finalizer and an owner by the write, which the view from before does not show; such a Pod would
// be taken for one that was counted already.
func (t *turn) latest(pods []*cluster.Pod) []*cluster.Pod {
	now := make([]*cluster.Pod, 0, len(pods))
	for _, p := range pods {
		if q := t.Pods.Get(p.Key); q != nil && q.UID == p.UID {
			now = append(now, q)
		}
	}
	return now
}

// applyFailurePolicy asks the policy about Pods that have failed or are about to. What it looks at is not in the cache.
// Exit codes and conditions are left out of the view of a Pod to keep the cache small, as only Jobs with a policy need
// them. So the Pods are read from the store, and only those that a rule may be about.
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

// act creates and deletes Pods. It returns how many are active then, and whether the Job was suspended or resumed.
// If the Job is about to end, all that happens is that its active Pods are deleted. A failed delete puts off the end:
// the condition would otherwise say that the Job has ended while its Pods still run.
func (t *turn) act(ctx context.Context) (active int64, changed bool, err error) {
	if t.finish != nil {
		active, err = t.remove(ctx, t.active, false)
		if err != nil {
			t.finish = nil // told when nothing runs any more
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
		t.status["startTime"] = reconcile.Stamp(t.now) // the deadline begins anew
	}
	return active, changed, err
}

// tellSuspended tells of the change by an Event, after the status that says so was written.
func (t *turn) tellSuspended() {
	if t.suspended() {
		t.Normal("Suspended", "Job suspended")
	} else {
		t.Normal("Resumed", "Job resumed")
	}
}
