package deployment

import (
	"context"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Controller rolls out Deployments.
// It never makes or deletes Pods: it sizes ReplicaSets, whose controller does. Pods are followed only for Recreate,
// which waits until the old ones have ended.
type Controller struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	deployments, sets *reconcile.Cache[*reconcile.Item]
	recorder          *reconcile.Recorder
	names             names
}

// New makes the controller of Deployments.
// The cache of Pods is one of those that have to be complete before it begins, as oldPodsRun would else miss Pods that
// run.
func New(c *cluster.Cluster) *Controller {
	d := &Controller{
		Cluster: c, deployments: c.Items("apps", "v1", "Deployment"), sets: c.Items("apps", "v1", "ReplicaSet"),
		recorder: c.Recorder("deployment-controller"), names: newNames(c.Naming),
	}
	d.Controller = c.Workloads("deployment", d.deployments, d.reconcile, d.sets, c.Pods)
	reconcile.FollowDependents(d.Controller, d.sets, d.deployments)
	return d
}

// A rollout is one turn of one Deployment.
// It is made for the turn and belongs to one worker, so nothing in it needs a lock. Conditions, collisions and revision
// are collected while the turn goes on and written in its end.
type rollout struct {
	*Controller
	reconcile.Reporter
	item   *reconcile.Item
	tree   tree.Tree // as it is stored
	spec   tree.Tree
	pace   pace
	newest *replicaSet // nil until there is one
	old    []*replicaSet

	// What will be written:
	conditions []any
	collisions any
	revision   string
}

// reconcile takes one turn.
func (d *Controller) reconcile(ctx context.Context, item *reconcile.Item, t tree.Tree) error {
	r := &rollout{Controller: d, Reporter: d.recorder.About(item), item: item, tree: t, spec: t.Object("spec"), pace: readPace(t.Object("spec"))}
	status := t.Object("status")
	r.conditions, r.collisions, r.revision = status.List("conditions"), status["collisionCount"], r.annotation(d.names.revision)
	if selects := r.spec.Object("selector"); len(selects.Object("matchLabels")) == 0 && len(selects.List("matchExpressions")) == 0 {
		return r.refuse(ctx)
	}
	sets, err := r.claim(ctx)
	if err != nil {
		return err
	}
	r.newest, r.old = findNew(r.spec.Object("template"), sets)
	return r.turn(ctx)
}

// annotation is an annotation of the Deployment; "" if it is not there.
func (r *rollout) annotation(key string) string {
	return r.tree.Object("metadata", "annotations").String(key)
}

// generation is the generation of the spec that this turn has read.
func (r *rollout) generation() int64 { return number(r.tree.Object("metadata"), "generation") }

// refuse tells that a Deployment selects everything, which can only have been stored by another server.
// It adopts and makes nothing, for it would take over every set of the namespace. The generation is written all the
// same, so that clients which wait for it do not wait forever.
func (r *rollout) refuse(ctx context.Context) error {
	r.Warn("SelectingAll", "This deployment is selecting all pods. A non-empty selector is required.")
	status := r.tree.Object("status").Copy()
	status["observedGeneration"] = max(r.generation(), number(status, "observedGeneration"))
	return r.deployments.UpdateStatus(ctx, r.tree, status)
}

// claim are the sets of the Deployment.
// They are adopted and released as the selector of the Deployment says before anything is decided, since a set that was
// released must not count towards its size.
func (r *rollout) claim(ctx context.Context) ([]*replicaSet, error) {
	items, err := reconcile.ClaimAll(ctx, reconcile.NewClaimer(r.item), r.sets)
	if err != nil {
		return nil, err
	}
	sets := make([]*replicaSet, 0, len(items))
	for _, i := range items {
		rs, err := readReplicaSet(r.latest(i), r.names)
		if err != nil {
			return nil, err
		}
		sets = append(sets, rs)
	}
	return sets, nil
}

// latest is an item after it was adopted.
// The write that adopts a set raises its version; resizing it in the version from before would be a conflict.
func (r *rollout) latest(i *reconcile.Item) *reconcile.Item {
	if now := r.sets.Get(i.Key); now != nil && now.UID == i.UID {
		return now
	}
	return i
}

// turn does what the Deployment asks for next.
// The order of the cases matters. A Deployment that was scaled is scaled first and rolled out in a later turn; a
// rollback changes the template and leaves the rest to the turn that this change brings about; one that is paused is
// scaled, but neither rolled out nor rolled back.
func (r *rollout) turn(ctx context.Context) error {
	if r.item.Terminating {
		return r.writeStatus(ctx, false)
	}
	r.tellPaused()
	switch {
	case r.spec.Bool("paused") || r.annotation(rollbackTo) == "" && r.isScaled():
		return r.scale(ctx)
	case r.annotation(rollbackTo) != "":
		return r.rollBack(ctx)
	case r.spec.Object("strategy").String("type") == "Recreate":
		return r.recreate(ctx)
	}
	return r.roll(ctx)
}

// tellPaused tells that the rollout is paused, or no longer is.
// The time of the condition is renewed when the rollout goes on, so that the time of the pause does not count towards
// the deadline.
func (r *rollout) tellPaused() {
	is := reconcile.FindCondition(r.conditions, progressing).String("reason")
	if deadline(r.spec) == 0 || is == timedOut {
		return
	}
	now := r.Now()
	switch {
	case r.spec.Bool("paused") && is != paused:
		r.conditions = reconcile.SetCondition(r.conditions, newCondition(progressing, "Unknown", paused, "Deployment is paused", now))
	case !r.spec.Bool("paused") && is == paused:
		r.conditions = reconcile.SetCondition(r.conditions, newCondition(progressing, "Unknown", "DeploymentResumed", "Deployment is resumed", now))
	}
}

// isScaled tells whether the number of replicas was changed since the sets were last sized.
// The annotation of each set says for how many replicas it was sized. Comparing with the size itself would not do, as in
// a rollout no set has the size of the whole Deployment.
func (r *rollout) isScaled() bool {
	for _, rs := range active(r.all()) {
		if desired, ok := rs.number(r.names.desired); ok && desired != r.pace.replicas {
			return true
		}
	}
	return false
}

// all are the old sets and the newest, if there is one. The capacity is cut so that append copies: it must not write
// into the array behind old.
func (r *rollout) all() []*replicaSet {
	if r.newest == nil {
		return r.old
	}
	return append(r.old[:len(r.old):len(r.old)], r.newest)
}

// scale sizes the sets as they are, and rolls out nothing.
func (r *rollout) scale(ctx context.Context) error {
	if err := r.adoptTemplate(ctx, false); err != nil {
		return err
	}
	if err := r.resize(ctx); err != nil {
		return err
	}
	if r.spec.Bool("paused") && r.annotation(rollbackTo) == "" {
		if err := r.cleanUp(ctx); err != nil {
			return err
		}
	}
	return r.writeStatus(ctx, false)
}

// resize brings the sets to the number of replicas: the only active one alone, old ones to nothing when the newest is
// all that is wanted, and otherwise, for rolling updates, all of them in proportion.
func (r *rollout) resize(ctx context.Context) error {
	if only := onlyActive(r.newest, r.old); only != nil {
		if only.replicas == r.pace.replicas {
			return nil
		}
		return r.setSize(ctx, only, r.pace.replicas, true)
	}
	if r.pace.saturated(r.names, r.newest) {
		for _, rs := range active(r.old) {
			if err := r.setSize(ctx, rs, 0, true); err != nil {
				return err
			}
		}
		return nil
	}
	if !r.pace.rolling {
		return nil
	}
	for _, s := range r.pace.proportional(r.names, r.all(), number(r.tree.Object("status"), "replicas")) {
		if err := r.setSize(ctx, s.set, s.size, true); err != nil {
			return err
		}
	}
	return nil
}

// roll replaces old Pods by new ones, step by step.
// A turn either grows the newest set or shrinks the old ones, not both: what shrinks is computed from Pods that are
// available, which growing does not make yet. Each write to a set, and each change of its status, brings the next turn.
func (r *rollout) roll(ctx context.Context) error {
	if err := r.adoptTemplate(ctx, true); err != nil {
		return err
	}
	size := r.pace.newSize(r.newest.replicas, sum(r.all(), wanted))
	if size != r.newest.replicas {
		if err := r.setSize(ctx, r.newest, size, false); err != nil {
			return err
		}
		return r.writeStatus(ctx, true)
	}
	changes := r.pace.shrinkOld(r.newest, r.old)
	for _, s := range changes {
		if err := r.setSize(ctx, s.set, s.size, false); err != nil {
			return err
		}
	}
	if len(changes) == 0 && complete(r.pace, r.tree.Object("status"), r.generation()) {
		if err := r.cleanUp(ctx); err != nil {
			return err
		}
	}
	return r.writeStatus(ctx, true)
}

// recreate begins with new Pods when all old ones have ended.
// Old and new Pods must never run at the same time, so the newest set is made or grows only when no Pod of the old ones
// is left that has not ended.
func (r *rollout) recreate(ctx context.Context) error {
	if err := r.adoptTemplate(ctx, false); err != nil {
		return err
	}
	shrinking := active(r.old)
	for _, rs := range shrinking {
		if err := r.setSize(ctx, rs, 0, false); err != nil {
			return err
		}
	}
	if len(shrinking) > 0 || r.oldPodsRun() {
		return r.writeStatus(ctx, true)
	}
	if err := r.adoptTemplate(ctx, true); err != nil {
		return err
	}
	if r.newest.replicas != r.pace.replicas {
		if err := r.setSize(ctx, r.newest, r.pace.replicas, false); err != nil {
			return err
		}
	}
	if complete(r.pace, r.tree.Object("status"), r.generation()) {
		if err := r.cleanUp(ctx); err != nil {
			return err
		}
	}
	return r.writeStatus(ctx, true)
}

// oldPodsRun tells whether a Pod of an old set still runs. Statuses of sets no longer count a Pod whose deletion has
// begun, while its containers may still run; so the Pods themselves are looked at too.
func (r *rollout) oldPodsRun() bool {
	if sum(r.old, current) > 0 {
		return true
	}
	for _, rs := range r.old {
		for _, p := range r.Pods.OwnedBy(rs.UID) {
			if !p.Ended() {
				return true
			}
		}
	}
	return false
}

// setSize writes the size of a set, if it is another one or, where that is said, if the Deployment was scaled. The
// annotations say by what it was sized.
// The write names the version that was read: if the set has changed meanwhile it fails with a conflict, and the turn is
// taken again.
func (r *rollout) setSize(ctx context.Context, rs *replicaSet, size int64, always bool) error {
	desired, most := strconv.FormatInt(r.pace.replicas, 10), strconv.FormatInt(r.pace.replicas+r.pace.surge, 10)
	if size == rs.replicas && !(always && (rs.annotation(r.names.desired) != desired || rs.annotation(r.names.max) != most)) {
		return nil
	}
	before := rs.replicas
	o, err := r.sets.PatchExisting(ctx, rs.Object(), "", tree.Tree{
		"metadata": tree.Tree{"annotations": tree.Tree{r.names.desired: desired, r.names.max: most}}, "spec": tree.Tree{"replicas": size},
	})
	if err != nil {
		return err
	}
	rs.replicas, rs.Item = size, r.itemOf(o, rs.Item)
	if size != before {
		direction := "up"
		if size < before {
			direction = "down"
		}
		r.Normal("ScalingReplicaSet", "Scaled %s replica set %s from %d to %d", direction, rs.Key.Name, before, size)
	}
	return nil
}

// itemOf is a set as it was written, if the cache does not know of something newer.
// The write has brought its answer into the cache already, so that what the cache has is at least as new.
func (r *rollout) itemOf(o *meta.Object, before *reconcile.Item) *reconcile.Item {
	if now := r.sets.Get(o.Key); now != nil && now.UID == before.UID {
		return now
	}
	return before
}

// cleanUp deletes sets of the oldest revisions, beyond the limit, that have no Pods.
// A set whose status is older than its spec is kept: it may still have Pods that its status does not tell of.
func (r *rollout) cleanUp(ctx context.Context) error {
	for _, rs := range outdated(r.spec, r.old) {
		if rs.current != 0 || rs.replicas != 0 || number(rs.tree.Object("metadata"), "generation") > rs.observed {
			continue
		}
		if err := r.sets.Remove(ctx, &rs.Head, "Background"); err != nil {
			return err
		}
	}
	return nil
}

// writeStatus writes what has changed of the Deployment, and comes back when the deadline has passed. rolls says
// whether the rollout goes on, so that its progress is told.
// Passing of a deadline changes no object, so no watch would tell of it. The second that is added is for the times in
// objects, which have no fractions.
func (r *rollout) writeStatus(ctx context.Context, rolls bool) error {
	now, old := r.Now(), r.tree.Object("status")
	status := counts(r.pace, r.all(), r.newest, r.generation(), r.collisions, r.conditions, now)
	if rolls {
		name := ""
		if r.newest != nil {
			name = r.newest.Key.Name
		}
		progress(r.spec, r.pace, old, status, r.item.Key.Name, name, r.generation(), now)
		status["conditions"] = failure(status.List("conditions"), r.newest, r.all())
	}
	if err := r.write(ctx, status); err != nil {
		return err
	}
	c := reconcile.FindCondition(status.List("conditions"), progressing)
	if limit := deadline(r.spec); rolls && limit > 0 && c != nil && c.String("reason") != timedOut && !complete(r.pace, status, r.generation()) {
		at := reconcile.Time(c, "lastUpdateTime").Add(limit + time.Second)
		r.AddAt(r.item.Key, at)
	}
	return nil
}

// write writes status and revision, if either is new.
// Both go in one write, since an Update of the sub-resource takes annotations along with the status; two writes could be
// parted by the end of the process.
func (r *rollout) write(ctx context.Context, status tree.Tree) error {
	if r.annotation(r.names.revision) == r.revision {
		return r.deployments.UpdateStatus(ctx, r.tree, status)
	}
	t := r.tree.Copy()
	t.EnsureObject("metadata", "annotations")[r.names.revision] = r.revision
	t["status"] = status
	_, err := r.deployments.Update(ctx, "status", t)
	return err
}
