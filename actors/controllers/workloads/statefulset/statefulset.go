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

// A Controller keeps the Pods of StatefulSets.
// Volume claims are read from the store when they are needed and not followed: a set looks at its claims only when a Pod
// is made or its ownership is checked.
type Controller struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	sets               *reconcile.Cache[*reconcile.Item]
	history            *history.History
	claims             reconcile.Client
	recorder           *reconcile.Recorder
	nameLabel, ordinal string // labels of Pods
}

// New makes the controller of StatefulSets.
// The label with the hash of revisions is another one than for DaemonSets, as in other servers of this API; the label of
// Pods with the revision is the same.
func New(c *cluster.Cluster) *Controller {
	s := &Controller{
		Cluster: c, sets: c.Items("apps", "v1", "StatefulSet"), history: history.New(c, c.Naming.Translate("controller.platform.io/hash")), claims: c.Core("PersistentVolumeClaim").As(reconcile.Manager), recorder: c.Recorder("statefulset-controller"),
		nameLabel: c.Naming.Translate("statefulset.platform.io/pod-name"), ordinal: c.Naming.Translate("apps.platform.io/pod-index"),
	}
	s.Controller = c.Workloads("statefulset", s.sets, s.reconcile, s.history.Cache(), c.Pods)
	reconcile.FollowDependents(s.Controller, c.Pods, s.sets)
	return s
}

// A turn is what is done for one set at a time.
// The slots are written to as Pods are made. With Parallel several goroutines work on slots at a time, each on its own;
// mu hands them out.
type turn struct {
	*Controller
	reconcile.Reporter
	plan
	item             *reconcile.Item
	tree, spec       tree.Tree
	current, newest  *history.Revision
	slots, condemned []slot
	whole            bool // slots are all that there should be
	now              time.Time
	mu               sync.Mutex // guards the status of what Parallel does at once
	currentReplicas  int64
}

// reconcile takes one turn of one set.
// The status is written even if a step has failed, and revisions are truncated last, when it is known which of them Pods
// still have.
func (s *Controller) reconcile(ctx context.Context, item *reconcile.Item, t tree.Tree) error {
	// A Pod is adopted only if its name has an ordinal, since the name is what says which slot it fills.
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

// findRevisions finds the revision of the template, and the one that Pods had before.
// If the one before is not there any more, the newest takes its place: it is the only one of which Pods can be made.
func (t *turn) findRevisions(ctx context.Context, all []*history.Revision, collisions *int64) (err error) {
	annotations := t.tree.Object("metadata", "annotations")
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

// act does what is due: first for the ordinals that there should be, then for those that there should not, then it
// updates.
// For a set with OrderedReady each step that has to wait ends the turn: nothing is scaled down or updated while a Pod
// that should be there is missing or does not work yet. The next change of a Pod brings the next turn.
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

// forEach calls do for each slot: in order, until it says to wait or, for a Parallel set, for all.
// With Parallel slots are taken in order from a counter under the lock, since SlowStart calls functions without telling
// them which call they are. It never says to wait.
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

// keep brings one slot to a Pod that works. It says to wait when the next ordinal has to.
// A Pod that has ended is deleted and made again in a later turn, when its name is free. Claims are looked at again for
// a pending Pod, as it may be pending because one of its claims was deleted.
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

// identify puts the labels on a Pod that was adopted.
// They are what a Service for a single Pod can select it by.
func (t *turn) identify(ctx context.Context, s *slot) error {
	labels := tree.Tree{t.nameLabel: s.pod.Key.Name, t.ordinal: strconv.FormatInt(s.ordinal, 10)}
	_, err := t.Pods.PatchExisting(ctx, s.pod.AnyVersion(), "", tree.Tree{"metadata": tree.Tree{"labels": labels}})
	t.tell("update", s.pod.Key.Name, err)
	return err
}

// podName is the name of the Pod of an ordinal, which stays the same for every Pod that ever fills it.
func (t *turn) podName(ordinal int64) string {
	return t.item.Key.Name + "-" + strconv.FormatInt(ordinal, 10)
}

// create makes the claims and the Pod of a slot. It waits for a Pod of that name that is still there.
// The claims come first: a Pod without them could not be scheduled. A name that is taken is an error that is tried again
// later and told in no Event, as it mostly passes by itself.
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

// pod is the Pod of an ordinal, of the revision that it should have.
// Host name and subdomain are what the name in DNS is made of, so they come from the set and override those of the
// template.
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

// firstUnavailable is the Pod of the lowest ordinal that does not work; nil if all do.
// It may be deleted although it is not available, when a set is scaled down: waiting for it would wait forever if it is
// broken.
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

// remove deletes a Pod that should not be there; one at a time, unless the set is Parallel.
// With OrderedReady a Pod is deleted only when the one above it is gone, and while it works itself or is the first that
// does not.
func (t *turn) remove(ctx context.Context, s *slot, first *cluster.Pod) (wait bool, err error) {
	if s.pod.Terminating {
		return !t.parallel, nil
	}
	if !t.parallel && s.pod != first && (!s.ready() || !t.available(*s, t.now)) {
		return true, nil
	}
	return true, t.delete(ctx, s.pod)
}

// delete deletes a Pod, with its own grace period, and tells of it. The uid in the delete keeps it from deleting the
// next Pod of the same name.
func (t *turn) delete(ctx context.Context, p *cluster.Pod) error {
	err := t.Pods.Remove(ctx, &p.Head, "")
	t.tell("delete", p.Key.Name, err)
	return err
}

// tell tells what became of a Pod.
// The texts are those of other servers of this API, which tools and tests match.
func (t *turn) tell(verb, pod string, err error) {
	title := map[string]string{"create": "Create", "update": "Update", "delete": "Delete"}[verb]
	if err == nil {
		t.Normal("Successful"+title, "%s Pod %s in StatefulSet %s successful", title, pod, t.item.Key.Name)
	} else {
		t.Warn("Failed"+title, "%s Pod %s in StatefulSet %s failed error: %v", title, pod, t.item.Key.Name, err)
	}
}

// writeStatus counts the Pods as they are now, and writes the status if it says anything new.
// The Pods are looked up in the cache once more because this turn may have deleted some of them; each write has brought
// its answer there.
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
