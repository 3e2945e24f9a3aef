package deployment

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// hashLabel distinguishes the Pods of a Deployment's ReplicaSets. It is part of each ReplicaSet's
// selector, so that ReplicaSets of one Deployment never adopt each other's Pods.
const hashLabel = "pod-template-hash"

// names holds annotation keys of Deployments and their ReplicaSets, translated to the naming
// profile. Clients such as kubectl read and write these annotations.
type names struct {
	revision, history, desired, max, lastApplied string
}

// rollbackTo is an annotation that requests the template of an earlier revision. Current clients
// change the template instead.
const rollbackTo = "deprecated.deployment.rollback.to"

func newNames(n *meta.Naming) names {
	return names{
		revision: n.Translate("deployment.platform.io/revision"), history: n.Translate("deployment.platform.io/revision-history"),
		desired: n.Translate("deployment.platform.io/desired-replicas"), max: n.Translate("deployment.platform.io/max-replicas"),
		lastApplied: n.Translate("kubectl.platform.io/last-applied-configuration"),
	}
}

// own reports whether an annotation is specific to the Deployment or to the ReplicaSet. Others are
// copied to the ReplicaSets, and copied back on a rollback.
func (n names) own(key string) bool {
	return slices.Contains([]string{n.revision, n.history, n.desired, n.max, n.lastApplied, rollbackTo}, key)
}

// A replicaSet is a snapshot of a Deployment's ReplicaSet. A nil replicaSet has no Pods. When
// setSize writes a new size, it also updates the snapshot for later decisions in the same
// reconciliation. The counts from the status may lag behind the size.
type replicaSet struct {
	*reconcile.Item
	tree     tree.Tree
	created  time.Time
	replicas int64 // desired
	// Fields read from the status.
	current, ready, available, observed, terminating int64
	tellsTerminating                                 bool
	revision                                         int64 // 0 for none
}

func readReplicaSet(i *reconcile.Item, n names) (*replicaSet, error) {
	t, err := i.Tree()
	if err != nil {
		return nil, err
	}
	rs := &replicaSet{Item: i, tree: t, created: reconcile.Time(t.Object("metadata"), "creationTimestamp")}
	rs.replicas, _ = t.Object("spec").Int("replicas")
	status := t.Object("status")
	rs.current, _ = status.Int("replicas")
	rs.ready, _ = status.Int("readyReplicas")
	rs.available, _ = status.Int("availableReplicas")
	rs.observed, _ = status.Int("observedGeneration")
	rs.terminating, rs.tellsTerminating = status.Int("terminatingReplicas")
	rs.revision, _ = strconv.ParseInt(rs.annotation(n.revision), 10, 64)
	return rs, nil
}

func (rs *replicaSet) annotation(key string) string {
	return rs.tree.Annotations().String(key)
}

// template returns the Pod template with the hash label. The caller must not modify the result.
func (rs *replicaSet) template() tree.Tree { return rs.tree.Object("spec", "template") }

func (rs *replicaSet) number(key string) (int64, bool) {
	n, err := strconv.ParseInt(rs.annotation(key), 10, 32)
	return n, err == nil && n >= 0
}

func byAge(a, b *replicaSet) int {
	return cmp.Or(a.created.Compare(b.created), strings.Compare(a.Key.Name, b.Key.Name))
}

func sum(sets []*replicaSet, of func(*replicaSet) int64) (n int64) {
	for _, rs := range sets {
		if rs != nil {
			n += of(rs)
		}
	}
	return n
}

func wanted(rs *replicaSet) int64    { return rs.replicas }
func current(rs *replicaSet) int64   { return rs.current }
func ready(rs *replicaSet) int64     { return rs.ready }
func available(rs *replicaSet) int64 { return rs.available }

func active(sets []*replicaSet) (some []*replicaSet) {
	for _, rs := range sets {
		if rs != nil && rs.replicas > 0 {
			some = append(some, rs)
		}
	}
	return some
}

// findNew returns the oldest ReplicaSet with the Deployment's template, or nil, and all other
// ReplicaSets. A crash may have left several ReplicaSets with that template, and all processes must
// choose the same one.
func findNew(template tree.Tree, sets []*replicaSet) (found *replicaSet, old []*replicaSet) {
	sorted := slices.SortedFunc(slices.Values(sets), byAge)
	for _, rs := range sorted {
		if found == nil && cluster.EqualTemplates(rs.template(), template, hashLabel) {
			found = rs
		} else {
			old = append(old, rs)
		}
	}
	return found, old
}

// maxHistoryLength is the maximum length in bytes of the annotation with earlier revisions.
const maxHistoryLength = 2000

func appendRevision(history, revision string) string {
	if history == "" {
		return revision
	}
	all := strings.Split(history, ",")
	length := len(history) + len(revision) + 1
	for len(all) > 0 && length > maxHistoryLength {
		length -= len(all[0]) + 1
		all = all[1:]
	}
	return strings.Join(append(all, revision), ",")
}
