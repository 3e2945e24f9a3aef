package disruption

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Budgets keeps the status of PodDisruptionBudgets.
//
// Order of locks: mu first, then those of the queue and the schedule. mu is not held while the store is asked.
type Budgets struct {
	*reconcile.Controller[meta.Key]
	budgets, pods reconcile.Client

	mu        sync.Mutex                                         // guards the rest
	selectors reconcile.Index[string, meta.Key, selector.Labels] // of budgets, by namespace
	health    map[meta.Key]podHealth                             // of Pods that were counted
}

// podHealth is what counts of a Pod in one version.
// It spares decoding all Pods of a budget again when one of them has changed.
type podHealth struct {
	version uint64
	ready   bool
}

const component = "controllermanager"

// NewBudgets returns the controller.
func NewBudgets(env *reconcile.Env) *Budgets {
	b := &Budgets{
		budgets: env.Client("policy", "v1", "PodDisruptionBudget").Reporting(component), pods: env.Core("Pod").Reporting(component),
		selectors: reconcile.Index[string, meta.Key, selector.Labels]{}, health: map[meta.Key]podHealth{},
	}
	b.Controller = reconcile.New(env, "disruption", b.sync, "the status of a PodDisruptionBudget cannot be written", "budget")
	begin := make(chan struct{}) // without a budget no Pods are watched
	first := sync.OnceFunc(func() { close(begin) })
	b.Watch(b.budgets, func(e reconcile.Event) {
		b.note(e)
		first()
	})
	b.Go(reconcile.When(begin, func(ctx context.Context) { b.pods.WatchLoop(ctx, b.followPods) }))
	return b
}

// note notes which Pods a budget is for.
func (b *Budgets) note(e reconcile.Event) {
	key := e.Key
	b.mu.Lock()
	defer b.mu.Unlock()
	b.selectors.Delete(key.Namespace, key)
	if e.Deleted {
		b.Cancel(key)
		return
	}
	if object, err := b.budgets.Decode(&meta.Object{JSON: bytes.Clone(e.JSON)}); err == nil {
		if matching, ok := selectorOf(object); ok {
			b.selectors.Put(key.Namespace, key, matching)
		}
	}
	b.Add(key)
}

// selectorOf is the selector of a budget; ok is false if it has none, and so is for no Pod.
func selectorOf(budget tree.Tree) (matching selector.Labels, ok bool) {
	given, ok := budget.Object("spec")["selector"].(tree.Tree)
	if !ok {
		return matching, false
	}
	return selector.FromLabelSelector(given)
}

// countDelay is how long changes of Pods are gathered before they are counted.
// A rollout changes many Pods of one budget at about the same time; without a delay each change would list all of
// them.
const countDelay = 20 * time.Millisecond

// followPods begins a watch of Pods. Each change has the budgets counted again that select the Pod, or may have selected
// it.
func (b *Budgets) followPods(int) func([]request.Event) error {
	b.mu.Lock()
	b.health = map[meta.Key]podHealth{} // some may have been deleted since the watch before
	b.mu.Unlock()
	return func(events []request.Event) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		for i := range events {
			switch e := &events[i]; e.Type {
			case request.Added, request.Modified, request.Deleted:
				b.notePod(reconcile.Event{Object: e.Object, Deleted: e.Type == request.Deleted})
			}
		}
		return nil
	}
}

// notePod has budgets counted again. The caller holds the lock.
//
// Which budget has counted a Pod is not remembered. So the change of a counted one concerns all budgets of the
// namespace: its labels may have changed, so that the one that counted it does not select it any more.
func (b *Budgets) notePod(e reconcile.Event) {
	_, counted := b.health[e.Key]
	if e.Deleted {
		delete(b.health, e.Key)
	}
	for key, matching := range b.selectors[e.Key.Namespace] {
		if counted || matching.Matches(e.Meta.Labels) {
			b.SetTime(key, time.Now().Add(countDelay))
		}
	}
}

// sync brings the status of one budget up to date.
//
// The object is written with the metadata that was read. So an eviction that has taken from the budget in between
// makes the write a conflict, and its entry in disruptedPods is not lost. The recheck is a second late, since the
// times in the status are in whole seconds.
func (b *Budgets) sync(ctx context.Context, key meta.Key) error {
	o, object, err := b.budgets.Read(ctx, key)
	if err != nil || o == nil {
		return err
	}
	now := time.Now()
	status, recheck, err := b.count(ctx, o, object, now)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		b.Log.Debug("the Pods of a budget cannot be counted", "budget", key.String(), "error", err)
		status = failedStatus(object.EnsureObject("status"), err.Error(), now)
	}
	if !recheck.IsZero() {
		b.SetTime(key, recheck.Add(time.Second))
	}
	return b.budgets.UpdateStatus(ctx, object, status)
}

// count counts the Pods of a budget.
func (b *Budgets) count(ctx context.Context, o *meta.Object, object tree.Tree, now time.Time) (status tree.Tree, recheck time.Time, err error) {
	pods, err := b.members(ctx, o, object)
	if err != nil {
		b.budgets.Warn(o, "NoPods", "Failed to get pods: "+err.Error())
		return nil, recheck, err
	}
	if len(pods) == 0 {
		b.budgets.Note(o, "NoPods", "No matching pods found")
	}
	c, err := desired(object.Object("spec"), len(pods), func() (int64, error) { return b.scale(ctx, o, object, pods) })
	if err != nil {
		b.budgets.Warn(o, "CalculateExpectedPodCountFailed", "Failed to calculate the number of expected pods: "+err.Error())
		return nil, recheck, err
	}
	members := make([]member, len(pods))
	for i := range pods {
		members[i] = pods[i].member
	}
	old := object.Object("status")
	disrupted, overdue, recheck := stillDisrupted(members, old, now)
	for _, name := range overdue {
		i := slices.IndexFunc(pods, func(p budgetPod) bool { return p.name == name })
		b.pods.Warn(pods[i].object, "NotDeleted", fmt.Sprintf("Pod was expected by PDB %s/%s to be deleted but it wasn't", o.Key.Namespace, o.Key.Name))
	}
	c.healthy = countHealthy(members, disrupted, now)
	return newStatus(old, o.Meta.Generation, c, disrupted, now), recheck, nil
}

// A budgetPod is a Pod of a budget with its object.
type budgetPod struct {
	member
	object *meta.Object
}

// members are the Pods of a budget.
// A budget without a selector has none; an empty selector takes all Pods of the namespace.
func (b *Budgets) members(ctx context.Context, o *meta.Object, object tree.Tree) ([]budgetPod, error) {
	matching, ok := selectorOf(object)
	if !ok {
		return nil, nil
	}
	list, err := b.pods.List(ctx, request.List{Namespace: o.Key.Namespace, Labels: matching})
	if err != nil {
		return nil, err
	}
	pods := make([]budgetPod, 0, len(list))
	for _, p := range list {
		ready, err := b.isReady(p)
		if err != nil {
			return nil, err
		}
		pods = append(pods, budgetPod{member{p.Key.Name, ready, p.Meta.Terminating}, p})
	}
	return pods, nil
}

// isReady tells whether a Pod is ready. It is read once in each version.
func (b *Budgets) isReady(o *meta.Object) (bool, error) {
	b.mu.Lock()
	known := b.health[o.Key]
	b.mu.Unlock()
	if known.version == o.Version {
		return known.ready, nil
	}
	object, err := b.pods.Decode(o)
	if err != nil {
		return false, err
	}
	ready := condition.IsTrue(object.Object("status"), "Ready")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.health[o.Key] = podHealth{o.Version, ready}
	return ready, nil
}
