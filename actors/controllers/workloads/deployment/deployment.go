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

// A Controller rolls out Deployments by creating and resizing ReplicaSets. It watches Pods only for
// the strategy Recreate, which waits for the old Pods to terminate.
type Controller struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	deployments, sets *reconcile.Cache[*reconcile.Item]
	recorder          *reconcile.Recorder
	names             names
}

// New returns a Controller. It also waits for the Pod cache to sync, because oldPodsRun could
// otherwise miss running Pods.
func New(c *cluster.Cluster) *Controller {
	d := &Controller{
		Cluster: c, deployments: c.Items("apps", "v1", "Deployment"), sets: c.Items("apps", "v1", "ReplicaSet"),
		recorder: c.Recorder("deployment-controller"), names: newNames(c.Naming),
	}
	d.Controller = c.Workloads("deployment", d.deployments, d.reconcile, d.sets, c.Pods)
	reconcile.FollowDependents(d.Controller, d.sets, d.deployments)
	return d
}

// A rollout is one reconciliation of a Deployment by one worker. Conditions, collisions and
// revision are collected and written at the end.
type rollout struct {
	*Controller
	reconcile.Reporter
	item   *reconcile.Item
	tree   tree.Tree // as stored
	spec   tree.Tree
	pace   pace
	newest *replicaSet // nil until it exists
	old    []*replicaSet

	// Values to write at the end of the reconciliation.
	conditions []any
	collisions any
	revision   string
}

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

func (r *rollout) annotation(key string) string {
	return r.tree.Annotations().String(key)
}

func (r *rollout) generation() int64 { return number(r.tree.Object("metadata"), "generation") }

// refuse handles a Deployment with an empty selector, which can occur only in old data. The
// Deployment would adopt all ReplicaSets in the namespace, so refuse adopts and creates nothing. It
// still writes observedGeneration, because clients may wait for it.
func (r *rollout) refuse(ctx context.Context) error {
	r.Warn("SelectingAll", "This deployment is selecting all pods. A non-empty selector is required.")
	status := r.tree.Object("status").Copy()
	status["observedGeneration"] = max(r.generation(), number(status, "observedGeneration"))
	return r.deployments.UpdateStatus(ctx, r.tree, status)
}

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

// latest returns the newest cached version of i. If the ReplicaSet was just adopted or written, i
// is outdated, and a write based on it would conflict.
func (r *rollout) latest(i *reconcile.Item) *reconcile.Item {
	if now := r.sets.Get(i.Key); now != nil && now.UID == i.UID {
		return now
	}
	return i
}

// turn performs the next step of the rollout. If spec.replicas has changed or the Deployment is
// paused, it only scales, and defers the rollout to a later reconciliation. A rollback changes the
// template, which triggers another reconciliation.
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

// tellPaused updates the Progressing condition when the rollout is paused or resumed. Resuming
// renews the condition's time, so that the pause does not count toward the progress deadline.
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

// isScaled reports whether spec.replicas has changed since the ReplicaSets were last sized. The
// sizes alone do not show this, because they also change during a rollout.
func (r *rollout) isScaled() bool {
	for _, rs := range active(r.all()) {
		if desired, ok := rs.number(r.names.desired); ok && desired != r.pace.replicas {
			return true
		}
	}
	return false
}

// all returns all ReplicaSets. The limited capacity of old forces append to copy.
func (r *rollout) all() []*replicaSet {
	if r.newest == nil {
		return r.old
	}
	return append(r.old[:len(r.old):len(r.old)], r.newest)
}

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

// resize distributes spec.replicas over the ReplicaSets. A single active ReplicaSet gets all
// replicas. If the newest ReplicaSet already has all desired Pods available, the others are scaled
// to 0. Otherwise, a rolling update resizes each ReplicaSet in proportion to its current size.
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

// roll replaces old Pods step by step. Each reconciliation either scales up the newest ReplicaSet
// or scales down old ReplicaSets while enough Pods stay available. Every write or status change of
// a ReplicaSet triggers the next reconciliation.
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

// recreate creates new Pods after all old Pods have terminated, because Pods of two revisions must
// never run at the same time.
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

// oldPodsRun reports whether a Pod of an old ReplicaSet is still running. It also checks the Pods,
// because a ReplicaSet's status excludes terminating Pods, whose containers may still be running.
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

// setSize writes a ReplicaSet's size and size annotations if the size differs. If always is set,
// different annotations also cause a write. A conflict triggers a retry.
func (r *rollout) setSize(ctx context.Context, rs *replicaSet, size int64, always bool) error {
	desired, most := strconv.FormatInt(r.pace.replicas, 10), strconv.FormatInt(r.pace.replicas+r.pace.surge, 10)
	if size == rs.replicas && !(always && (rs.annotation(r.names.desired) != desired || rs.annotation(r.names.max) != most)) {
		return nil
	}
	before := rs.replicas
	_, err := r.sets.PatchExisting(ctx, rs.Object(), "", tree.Tree{
		"metadata": tree.Tree{"annotations": tree.Tree{r.names.desired: desired, r.names.max: most}}, "spec": tree.Tree{"replicas": size},
	})
	if err != nil {
		return err
	}
	rs.replicas, rs.Item = size, r.latest(rs.Item)
	if size != before {
		direction := "up"
		if size < before {
			direction = "down"
		}
		r.Normal("ScalingReplicaSet", "Scaled %s replica set %s from %d to %d", direction, rs.Key.Name, before, size)
	}
	return nil
}

// cleanUp deletes the oldest ReplicaSets beyond revisionHistoryLimit if they have no Pods. It keeps
// ReplicaSets with an outdated status, because they may still have Pods.
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

// writeStatus writes the status. If rolls is set, the rollout continues, and writeStatus requeues
// the Deployment for its progress deadline. It adds one second, because API timestamps have no
// fractional seconds.
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

// write writes status and revision in one request, because an update of the status subresource may
// also change annotations.
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
