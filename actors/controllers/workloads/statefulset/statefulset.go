package statefulset

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/history"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Controller manages the Pods of StatefulSets. It does not watch volume claims, but reads them
// from the store when needed.
type Controller struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	sets               *reconcile.Cache[*reconcile.Item]
	history            *history.History
	claims             reconcile.Client
	recorder           *reconcile.Recorder
	nameLabel, ordinal string // labels of Pods
}

// New returns a Controller. As in Kubernetes, ControllerRevisions of StatefulSets and DaemonSets
// have different hash labels, but their Pods have the same one.
func New(c *cluster.Cluster) *Controller {
	s := &Controller{
		Cluster: c, sets: c.Items("apps", "v1", "StatefulSet"), history: history.New(c, c.Naming.Translate("controller.platform.io/hash")), claims: c.Core("PersistentVolumeClaim").As(reconcile.Manager), recorder: c.Recorder("statefulset-controller"),
		nameLabel: c.Naming.Translate("statefulset.platform.io/pod-name"), ordinal: c.Naming.Translate("apps.platform.io/pod-index"),
	}
	s.Controller = c.Workloads("statefulset", s.sets, s.reconcile, s.history.Cache(), c.Pods)
	reconcile.FollowDependents(s.Controller, c.Pods, s.sets)
	return s
}

// A turn is one reconciliation of a StatefulSet. With Parallel, several goroutines work on
// different slots.
type turn struct {
	*Controller
	reconcile.Reporter
	plan
	item             *reconcile.Item
	tree, spec       tree.Tree
	current, newest  *history.Revision
	slots, condemned []slot
	whole            bool // slots are complete
	now              time.Time
	mu               sync.Mutex // guards the next slot in forEach
	currentReplicas  int64
}

// reconcile processes one StatefulSet. It writes the status even if a step has failed. It deletes
// old revisions last, because the earlier steps determine which ones are still used.
func (s *Controller) reconcile(ctx context.Context, item *reconcile.Item, t tree.Tree) error {
	// Adopt a Pod only if its name has an ordinal, which determines its slot.
	claimer := &reconcile.Claimer{Owner: item, Selects: func(h *reconcile.Head) bool {
		return item.Selects(h.Labels) && ordinalOf(item.Key.Name, h.Key.Name) >= 0
	}}
	pods, err := reconcile.ClaimAll(ctx, claimer, s.Pods)
	if err != nil {
		return err
	}
	revisions, err := s.history.List(ctx, item)
	if err != nil {
		return err
	}
	r := &turn{Controller: s, Reporter: s.recorder.About(item), plan: readPlan(t.Object("spec")), item: item, tree: t, spec: t.Object("spec"), now: s.Now()}
	collisions, _ := t.Object("status").Int("collisionCount")
	if err := r.findRevisions(ctx, revisions, &collisions); err != nil {
		return err
	}
	r.slots, r.condemned, r.whole = r.arrange(item.Key.Name, pods)
	r.currentReplicas, _ = t.Object("status").Int("currentReplicas")
	var fault error
	if !item.Terminating {
		fault = r.act(ctx)
	}
	if err := r.writeStatus(ctx, collisions); err != nil {
		return errors.Join(fault, err)
	}
	limit, _ := r.spec.Int("revisionHistoryLimit")
	return errors.Join(fault, s.history.Truncate(ctx, revisions, limit, func(v *history.Revision) bool {
		return v.UID == r.current.UID || v.UID == r.newest.UID || slices.ContainsFunc(pods, func(p *cluster.Pod) bool { return revisionOf(p) == v.Key.Name })
	}))
}

func (t *turn) findRevisions(ctx context.Context, all []*history.Revision, collisions *int64) (err error) {
	annotations := t.tree.Annotations()
	if t.newest, err = t.history.Current(ctx, t.item, annotations, t.spec.Object("template"), all, collisions); err != nil {
		return err
	}
	t.current = t.newest
	name := t.tree.Object("status").String("currentRevision")
	for _, r := range all {
		if r.Key.Name == name {
			t.current = r
		}
	}
	return nil
}

// act creates and repairs the desired Pods, removes surplus Pods, and then updates Pods. With
// OrderedReady, it stops at the first missing or unavailable Pod, whose next change triggers
// another reconciliation.
func (t *turn) act(ctx context.Context) error {
	wait, err := t.forEach(t.slots, func(s *slot) (bool, error) { return t.keep(ctx, s) })
	if wait || err != nil {
		return err
	}
	if _, err := t.forEach(t.condemned, func(s *slot) (bool, error) { return false, t.own(ctx, *s, true) }); err != nil {
		return err
	}
	first := t.firstUnavailable()
	wait, err = t.forEach(t.condemned, func(s *slot) (bool, error) { return t.remove(ctx, s, first) })
	if wait || err != nil || !t.whole || t.spec.Object("updateStrategy").String("type") == "OnDelete" {
		return err
	}
	return reconcile.ForEachParallel(t.toUpdate(t.slots, t.newest.Key.Name, t.now), func(p *cluster.Pod) error { return t.delete(ctx, p) })
}

// forEach calls do for each slot in order, until do returns true. With Parallel, it calls do for
// all slots concurrently and ignores wait.
func (t *turn) forEach(slots []slot, do func(*slot) (wait bool, err error)) (bool, error) {
	if !t.parallel {
		for i := range slots {
			if wait, err := do(&slots[i]); wait || err != nil {
				return true, err
			}
		}
		return false, nil
	}
	next := 0
	return false, reconcile.SlowStart(len(slots), func() error {
		t.mu.Lock()
		s := &slots[next]
		next++
		t.mu.Unlock()
		_, err := do(s)
		return err
	})
}

// keep creates or repairs the Pod of a slot, and reports whether the next ordinal must wait. It
// deletes a terminated Pod, so that a later turn recreates it. It creates missing claims, because a
// pending Pod may lack a claim that was deleted.
func (t *turn) keep(ctx context.Context, s *slot) (wait bool, err error) {
	switch {
	case s.pod == nil:
		if err := t.create(ctx, s); err != nil || !t.parallel {
			return true, err
		}
		return false, nil
	case s.pod.Ended():
		if !s.pod.Terminating {
			return true, t.delete(ctx, s.pod)
		}
		return true, nil
	case s.pod.Phase == cluster.PodPending:
		if err := t.ensureClaims(ctx, s.ordinal, s.pod.Key.Name); err != nil {
			return true, err
		}
	}
	if !t.parallel && (s.pod.Terminating || !s.ready() || !t.available(*s, t.now)) {
		return true, nil
	}
	if name, _ := s.pod.Labels.Get(t.nameLabel); name != s.pod.Key.Name {
		if err := t.identify(ctx, s); err != nil {
			return true, err
		}
	}
	return false, t.own(ctx, *s, false)
}

// identify labels an adopted Pod with its name and ordinal, so that a Service can select just this
// Pod.
func (t *turn) identify(ctx context.Context, s *slot) error {
	labels := tree.Tree{t.nameLabel: s.pod.Key.Name, t.ordinal: strconv.FormatInt(s.ordinal, 10)}
	_, err := t.Pods.PatchExisting(ctx, s.pod.AnyVersion(), "", tree.Tree{"metadata": tree.Tree{"labels": labels}})
	t.tell("update", s.pod.Key.Name, err)
	return err
}

func (t *turn) podName(ordinal int64) string {
	return t.item.Key.Name + "-" + strconv.FormatInt(ordinal, 10)
}

// create creates the claims and then the Pod of a slot. If the Pod's name is taken, the create is
// retried without an Event, because the name usually becomes free.
func (t *turn) create(ctx context.Context, s *slot) error {
	name := t.podName(s.ordinal)
	if stale, err := t.stale(ctx, s.ordinal, name); stale || err != nil {
		t.AddAfter(t.item.Key, staleClaimDelay)
		return err
	}
	if err := t.ensureClaims(ctx, s.ordinal, name); err != nil {
		t.tell("create", name, err)
		return err
	}
	pod := t.pod(s.ordinal)
	if err := cluster.CheckSelected(t.item, pod); err != nil {
		t.tell("create", name, err)
		return err
	}
	o, err := t.Pods.Create(ctx, pod)
	if reconcile.IsAlreadyExists(err) || reconcile.IsNamespaceTerminating(err) {
		return err
	}
	t.tell("create", name, err)
	if err != nil {
		return err
	}
	s.pod = t.Pods.Get(o.Key)
	return t.own(ctx, *s, false)
}

// pod returns the Pod for an ordinal. Its hostname and subdomain, which determine its DNS name,
// override the template's values.
func (t *turn) pod(ordinal int64) tree.Tree {
	revision := t.newest
	if t.usesCurrent(ordinal, t.currentReplicas) {
		revision = t.current
	}
	pod := cluster.PodOf(t.item, revision.Template())
	metadata, name := pod.Object("metadata"), t.podName(ordinal)
	delete(metadata, "generateName")
	metadata["name"] = name
	labels := metadata.EnsureObject("labels")
	labels[t.nameLabel], labels[t.ordinal], labels[revisionLabel] = name, strconv.FormatInt(ordinal, 10), revision.Key.Name
	spec := pod.EnsureObject("spec")
	spec["hostname"] = name
	if service := t.spec.String("serviceName"); service != "" {
		spec["subdomain"] = service
	} else {
		delete(spec, "subdomain")
	}
	withClaims(pod, t.spec, t.item.Key.Name, ordinal)
	return pod
}

// firstUnavailable returns the unavailable Pod with the lowest ordinal, or nil. If that Pod is
// surplus, scaling down does not wait for it, because it may never become available.
func (t *turn) firstUnavailable() *cluster.Pod {
	for _, s := range t.slots {
		if t.unavailable(s, t.now) {
			return s.pod
		}
	}
	for i := len(t.condemned) - 1; i >= 0; i-- {
		if t.unavailable(t.condemned[i], t.now) {
			return t.condemned[i].pod
		}
	}
	return nil
}

// remove deletes a surplus Pod and reports whether the next deletion must wait. With OrderedReady,
// only available Pods are deleted, one at a time, except for first, the unavailable Pod with the
// lowest ordinal.
func (t *turn) remove(ctx context.Context, s *slot, first *cluster.Pod) (wait bool, err error) {
	if s.pod.Terminating {
		return !t.parallel, nil
	}
	if !t.parallel && s.pod != first && (!s.ready() || !t.available(*s, t.now)) {
		return true, nil
	}
	return true, t.delete(ctx, s.pod)
}

// delete deletes a Pod with its own grace period and records an Event. The uid precondition
// protects a new Pod with the same name.
func (t *turn) delete(ctx context.Context, p *cluster.Pod) error {
	err := t.Pods.Remove(ctx, &p.Head, "")
	t.tell("delete", p.Key.Name, err)
	return err
}

// tell records an Event. Tools rely on the text, which matches Kubernetes.
func (t *turn) tell(verb, pod string, err error) {
	title := map[string]string{"create": "Create", "update": "Update", "delete": "Delete"}[verb]
	if err == nil {
		t.Normal("Successful"+title, "%s Pod %s in StatefulSet %s successful", title, pod, t.item.Key.Name)
	} else {
		t.Warn("Failed"+title, "%s Pod %s in StatefulSet %s failed error: %v", title, pod, t.item.Key.Name, err)
	}
}

// writeStatus writes the status if it has changed. It reads the Pods from the cache again, because
// this turn may have deleted some.
func (t *turn) writeStatus(ctx context.Context, collisions int64) error {
	all := slices.Concat(t.slots, t.condemned)
	for i := range all {
		if p := all[i].pod; p != nil {
			all[i].pod = t.Pods.Get(p.Key)
		}
	}
	status := t.counts(all, t.current.Key.Name, t.newest.Key.Name, t.now)
	status["collisionCount"] = collisions
	status["observedGeneration"], _ = t.tree.Object("metadata").Int("generation")
	if conditions := t.tree.Object("status").List("conditions"); len(conditions) > 0 {
		status["conditions"] = conditions
	}
	t.complete(status)
	if err := t.sets.UpdateStatus(ctx, t.tree, status); err != nil {
		return err
	}
	if wait := t.recheck(all, t.now); wait > 0 {
		t.AddAt(t.item.Key, t.now.Add(wait))
	}
	return nil
}
