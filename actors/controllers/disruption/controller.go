package disruption

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Budgets maintains the status of PodDisruptionBudgets.
//
// Lock order: mu is taken before the locks of the work queue and the schedule. It is not held
// during store calls.
type Budgets struct {
	*reconcile.Controller[meta.Key]
	budgets, pods reconcile.Client

	mu        sync.Mutex                                         // guards the fields below
	selectors reconcile.Index[string, meta.Key, selector.Labels] // of budgets, by namespace
	health    map[meta.Key]podHealth                             // of Pods that were counted
}

// podHealth caches the health of a Pod by version, so that a change to one Pod does not decode all
// Pods of its budget.
type podHealth struct {
	version uint64
	ready   bool
}

const component = "controllermanager"

func NewBudgets(env *reconcile.Env) *Budgets {
	b := &Budgets{
		budgets: env.Client("policy", "v1", "PodDisruptionBudget").Reporting(component), pods: env.Core("Pod").Reporting(component),
		selectors: reconcile.Index[string, meta.Key, selector.Labels]{}, health: map[meta.Key]podHealth{},
	}
	b.Controller = reconcile.New(env, "disruption", b.sync, "cannot update the status of a PodDisruptionBudget", "budget")
	begin := make(chan struct{}) // without a budget, Pods are not watched
	first := sync.OnceFunc(func() { close(begin) })
	b.Watch(b.budgets, func(e reconcile.Event) {
		b.note(e)
		first()
	})
	b.Go(reconcile.When(begin, func(ctx context.Context) { b.pods.WatchLoop(ctx, b.followPods) }))
	return b
}

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

func selectorOf(budget tree.Tree) (matching selector.Labels, ok bool) {
	given, ok := budget.Object("spec")["selector"].(tree.Tree)
	if !ok {
		return matching, false
	}
	return selector.FromLabelSelector(given)
}

// countDelay is the delay between a Pod change and the recount of its budgets. A rollout changes
// many Pods of a budget, and each recount lists all these Pods. The delay merges the changes into
// one recount.
const countDelay = 20 * time.Millisecond

// followPods handles the events of one Pod watch. Each change recounts the budgets that select the
// Pod or may have selected it before the change.
func (b *Budgets) followPods(int) func([]request.Event) error {
	b.mu.Lock()
	b.health = map[meta.Key]podHealth{} // some Pods may have been deleted before this watch
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

// notePod schedules a recount of the budgets that select a changed Pod. If the Pod was counted
// before, it schedules a recount of all budgets in the namespace, because the cache does not record
// which budgets counted the Pod. The caller must hold mu.
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

// sync updates a budget's status, with the resourceVersion as a precondition. An unconditional
// update could overwrite the disruptedPods entry of a concurrent eviction. Times in the status are
// truncated to seconds, so sync waits one more second before it counts the Pods again.
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
		b.Log.Debug("cannot count the Pods of a disruption budget", "budget", key.String(), "error", err)
		status = failedStatus(object.EnsureObject("status"), err.Error(), now)
	}
	if !recheck.IsZero() {
		b.SetTime(key, recheck.Add(time.Second))
	}
	return b.budgets.UpdateStatus(ctx, object, status)
}

// count computes the status of a budget. recheck is the time of the next computation, or zero.
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

type budgetPod struct {
	member
	object *meta.Object
}

// members returns the Pods that a budget selects. A missing selector selects no Pods, and an empty
// selector selects all Pods in the namespace.
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

// isReady reports whether a Pod is ready. It decodes each version of the Pod only once.
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
	ready := tree.IsConditionTrue(object.Object("status"), "Ready")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.health[o.Key] = podHealth{o.Version, ready}
	return ready, nil
}
