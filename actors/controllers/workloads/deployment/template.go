package deployment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/tree"
)

// adoptTemplate updates the annotations and revision of the ReplicaSet for the current template. If
// create is set, it creates a missing ReplicaSet. The revision is one more than the highest
// revision of the old ReplicaSets, even if the template was used before.
func (r *rollout) adoptTemplate(ctx context.Context, create bool) error {
	revision := int64(1)
	for _, rs := range r.old {
		revision = max(revision, rs.revision+1)
	}
	switch {
	case r.newest != nil:
		return r.adjust(ctx, revision)
	case create:
		return r.create(ctx, revision)
	}
	return nil
}

// adjust updates annotations, revision and minReadySeconds of the newest ReplicaSet if they differ.
// minReadySeconds is not part of the template, so a change needs no new ReplicaSet.
func (r *rollout) adjust(ctx context.Context, revision int64) error {
	rs := r.newest
	change := tree.Tree{}
	if annotations := r.setAnnotations(rs, revision); len(annotations) > 0 {
		change["metadata"] = tree.Tree{"annotations": annotations}
	}
	seconds, had := number(r.spec, "minReadySeconds"), number(rs.tree.Object("spec"), "minReadySeconds")
	if seconds != had {
		change["spec"] = tree.Tree{"minReadySeconds": seconds}
	}
	if len(change) > 0 {
		_, err := r.sets.PatchExisting(ctx, rs.Object(), "", change)
		if err != nil {
			return err
		}
		if r.newest, err = readReplicaSet(r.latest(rs.Item), r.names); err != nil {
			return err
		}
	}
	r.revision = cmp.Or(r.newest.annotation(r.names.revision), r.revision)
	if deadline(r.spec) > 0 && reconcile.FindCondition(r.conditions, progressing) == nil {
		r.tellProgress("True", "FoundNewReplicaSet", fmt.Sprintf("Found new replica set %q", rs.Key.Name))
	}
	return nil
}

func (r *rollout) tellProgress(status, reason, message string) {
	if deadline(r.spec) > 0 {
		r.conditions = reconcile.SetCondition(r.conditions, newCondition(progressing, status, reason, message, r.Now()))
	}
}

// setAnnotations returns the annotations to add or change on a ReplicaSet. The revision never
// decreases. When it increases, the previous revision is added to the history annotation for
// clients.
func (r *rollout) setAnnotations(rs *replicaSet, revision int64) tree.Tree {
	changes := tree.Tree{}
	annotations := r.tree.Annotations()
	for key := range annotations {
		if v := annotations.String(key); !r.names.own(key) && rs.annotation(key) != v {
			changes[key] = v
		}
	}
	had := rs.annotation(r.names.revision)
	before, err := strconv.ParseInt(had, 10, 64)
	if had != "" && err != nil || before >= revision {
		return changes
	}
	changes[r.names.revision] = strconv.FormatInt(revision, 10)
	if had != "" {
		changes[r.names.history] = appendRevision(rs.annotation(r.names.history), had)
	}
	return changes
}

// create creates the ReplicaSet for a new template. After a name collision, the next reconciliation
// tries another hash. Any other failure is reported in the status and ends the reconciliation.
func (r *rollout) create(ctx context.Context, revision int64) error {
	object, name := r.newSet(revision)
	size := number(object.Object("spec"), "replicas")
	o, err := r.sets.Create(ctx, object)
	switch {
	case reconcile.IsAlreadyExists(err):
		return r.collide(ctx, name, err)
	case reconcile.IsNamespaceTerminating(err):
		return err
	case err != nil:
		message := fmt.Sprintf("Failed to create new replica set %q: %v", name, err)
		r.tellProgress("False", "ReplicaSetCreateError", message)
		r.Warn("ReplicaSetCreateError", "%s", message)
		return cmp.Or(r.writeStatus(ctx, false), err)
	}
	if size > 0 {
		r.Normal("ScalingReplicaSet", "Scaled up replica set %s from 0 to %d", name, size)
	}
	item := r.sets.Get(o.Key)
	if item == nil {
		return fmt.Errorf("replica set %s was deleted", name)
	}
	if r.newest, err = readReplicaSet(item, r.names); err != nil {
		return err
	}
	r.revision = strconv.FormatInt(revision, 10)
	r.tellProgress("True", "NewReplicaSetCreated", fmt.Sprintf("Created new replica set %q", name))
	return nil
}

// newSet returns the ReplicaSet to create. Its name contains a hash of the template without the
// hash label, so that the same template always yields the same name. A retry after a lost response
// therefore finds the existing ReplicaSet instead of creating another.
func (r *rollout) newSet(revision int64) (object tree.Tree, name string) {
	template := r.spec.Object("template").Copy()
	var collisions *int64
	if n, ok := r.collisions.(int64); ok {
		collisions = &n
	}
	hash := cluster.Hash(template, collisions)
	name = setName(r.item.Key.Name, hash)
	template.EnsureObject("metadata", "labels")[hashLabel] = hash
	selector := r.spec.Object("selector").Copy()
	selector.EnsureObject("matchLabels")[hashLabel] = hash
	annotations := r.setAnnotations(&replicaSet{tree: tree.Tree{}}, revision)
	annotations[r.names.desired] = strconv.FormatInt(r.pace.replicas, 10)
	annotations[r.names.max] = strconv.FormatInt(r.pace.replicas+r.pace.surge, 10)
	return tree.Tree{
		"metadata": tree.Tree{
			"name": name, "namespace": r.item.Key.Namespace, "labels": tree.Clone(template.Labels()), "annotations": annotations,
			"ownerReferences": []any{r.item.ControllerReference()},
		},
		"spec": tree.Tree{
			"replicas": r.pace.newSize(0, sum(r.old, wanted)), "minReadySeconds": number(r.spec, "minReadySeconds"), "selector": selector, "template": template,
		},
	}, name
}

const maxName = 253

func setName(deployment, hash string) string {
	return deployment[:min(len(deployment), maxName-1-len(hash))] + "-" + hash
}

// collide increments collisionCount, unless another process or an earlier reconciliation has
// already created the same ReplicaSet. It always returns an error, which triggers a retry.
func (r *rollout) collide(ctx context.Context, name string, taken error) error {
	if is := r.sets.Named(r.item.Key.Namespace, name); is != nil && is.ControlledBy(r.item.UID) {
		rs, err := readReplicaSet(is, r.names)
		if err != nil || cluster.EqualTemplates(rs.template(), r.spec.Object("template"), hashLabel) {
			return cmp.Or(err, taken)
		}
	}
	n, _ := r.collisions.(int64)
	r.collisions = n + 1
	status := r.tree.Object("status").Copy()
	status["collisionCount"] = r.collisions
	return cmp.Or(r.deployments.UpdateStatus(ctx, r.tree, status), taken)
}

// outdated returns the old ReplicaSets in excess of revisionHistoryLimit, lowest revisions first.
// It ignores terminating ReplicaSets.
func outdated(spec tree.Tree, old []*replicaSet) []*replicaSet {
	limit, ok := spec.Int("revisionHistoryLimit")
	if !ok || limit == math.MaxInt32 {
		return nil
	}
	var kept []*replicaSet
	for _, rs := range old {
		if !rs.Terminating {
			kept = append(kept, rs)
		}
	}
	slices.SortFunc(kept, func(a, b *replicaSet) int { return cmp.Or(cmp.Compare(a.revision, b.revision), byAge(a, b)) })
	return kept[:max(0, len(kept)-int(limit))]
}

// rollBack copies the template of the requested revision to the Deployment. Revision 0 means the
// previous revision. rollBack always removes the rollback annotation, because an unknown revision
// would otherwise be retried forever. A later reconciliation rolls out the template.
func (r *rollout) rollBack(ctx context.Context) error {
	if err := r.adoptTemplate(ctx, true); err != nil {
		return err
	}
	revision, err := strconv.ParseInt(r.annotation(rollbackTo), 10, 64)
	if err != nil {
		revision = -1 // invalid
	}
	if revision == 0 {
		revision = previousRevision(r.all())
	}
	t := r.tree.Copy()
	delete(t.Annotations(), rollbackTo)
	i := slices.IndexFunc(r.all(), func(rs *replicaSet) bool { return revision > 0 && rs.revision == revision })
	switch {
	case i < 0:
		r.Warn("DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to.")
	case cluster.EqualTemplates(r.all()[i].template(), r.spec.Object("template"), hashLabel):
		r.Warn("DeploymentRollbackTemplateUnchanged", "The rollback revision contains the same template as current deployment %q", r.item.Key.Name)
	default:
		r.takeTemplate(t, r.all()[i])
		r.Normal("DeploymentRollback", "Rolled back deployment %q to revision %d", r.item.Key.Name, revision)
	}
	_, err = r.deployments.Update(ctx, "", t)
	return err
}

// takeTemplate copies the template and annotations of a ReplicaSet to a Deployment. It drops the
// hash label, which the Deployment's own template does not have.
func (r *rollout) takeTemplate(t tree.Tree, rs *replicaSet) {
	template := rs.template().Copy()
	delete(template.Labels(), hashLabel)
	t.EnsureObject("spec")["template"] = template
	annotations := t.EnsureObject("metadata", "annotations")
	for key := range annotations {
		if !r.names.own(key) {
			delete(annotations, key)
		}
	}
	had := rs.tree.Annotations()
	for key, v := range had {
		if !r.names.own(key) {
			annotations[key] = v
		}
	}
}

func previousRevision(sets []*replicaSet) int64 {
	var revisions []int64
	for _, rs := range sets {
		revisions = append(revisions, rs.revision)
	}
	slices.Sort(revisions)
	if len(revisions) < 2 {
		return 0
	}
	return revisions[len(revisions)-2]
}
