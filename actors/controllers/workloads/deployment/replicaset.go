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

// hashLabel tells the Pods of the sets of a Deployment apart.
// It is in the selector of each set, too, so that sets of the same Deployment never adopt Pods of each other.
const hashLabel = "pod-template-hash"

// names are the annotations of Deployments and their sets, in the spelling of a profile.
// They are read and written by clients such as kubectl, so the spelling is that which clients of the profile use.
type names struct {
	revision, history, desired, max, lastApplied string
}

// rollbackTo is the annotation that asks for the template of an earlier revision. Clients of today change the template
// themselves.
const rollbackTo = "deprecated.deployment.rollback.to"

// newNames are the names of a profile.
func newNames(n *meta.Naming) names {
	return names{
		revision: n.Translate("deployment.platform.io/revision"), history: n.Translate("deployment.platform.io/revision-history"),
		desired: n.Translate("deployment.platform.io/desired-replicas"), max: n.Translate("deployment.platform.io/max-replicas"),
		lastApplied: n.Translate("kubectl.platform.io/last-applied-configuration"),
	}
}

// own tells whether an annotation is that of one object and is not copied from a Deployment to its sets.
// All other annotations of the Deployment are copied, and copied back when it is rolled back to that set.
func (n names) own(key string) bool {
	return slices.Contains([]string{n.revision, n.history, n.desired, n.max, n.lastApplied, rollbackTo}, key)
}

// A replicaSet is a set of a Deployment. A nil one has no Pods.
// It is a snapshot, read once in a turn. Only setSize changes it, so that what follows in the same turn decides on the
// size that was written. The counts of the status are those that the controller of ReplicaSets wrote last, and may lag
// behind the size.
type replicaSet struct {
	*reconcile.Item
	tree     tree.Tree
	created  time.Time
	replicas int64 // wanted
	// Of the status:
	current, ready, available, observed, terminating int64
	tellsTerminating                                 bool
	revision                                         int64 // 0 for none
}

// readReplicaSet decodes a set. Numbers that are missing or cannot be read are 0.
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

// annotation is an annotation of the set; "" if it is not there.
func (rs *replicaSet) annotation(key string) string {
	return rs.tree.Object("metadata", "annotations").String(key)
}

// template is the template of the Pods of the set, including the label with the hash. It is not a copy.
func (rs *replicaSet) template() tree.Tree { return rs.tree.Object("spec", "template") }

// number is a count in an annotation.
// Annotations can be written by anybody, so one that is no number or negative counts as missing.
func (rs *replicaSet) number(key string) (int64, bool) {
	n, err := strconv.ParseInt(rs.annotation(key), 10, 32)
	return n, err == nil && n >= 0
}

// byAge puts older sets first. The name decides between those of the same second, which is all that the time of creation
// tells, so that each turn sees the same order.
func byAge(a, b *replicaSet) int {
	return cmp.Or(a.created.Compare(b.created), strings.Compare(a.Key.Name, b.Key.Name))
}

// sum adds up a number of several sets.
// Sets that are nil are passed over, so that callers need not ask whether there is a newest one yet.
func sum(sets []*replicaSet, of func(*replicaSet) int64) (n int64) {
	for _, rs := range sets {
		if rs != nil {
			n += of(rs)
		}
	}
	return n
}

// The numbers of a set, for sum.
func wanted(rs *replicaSet) int64    { return rs.replicas }
func current(rs *replicaSet) int64   { return rs.current }
func ready(rs *replicaSet) int64     { return rs.ready }
func available(rs *replicaSet) int64 { return rs.available }

// active are the sets that want Pods.
func active(sets []*replicaSet) (some []*replicaSet) {
	for _, rs := range sets {
		if rs != nil && rs.replicas > 0 {
			some = append(some, rs)
		}
	}
	return some
}

// findNew is the oldest set with the template of the Deployment; nil if there is none. old are the others.
// There may be several with the same template, where the process has ended or another one has run at the wrong moment.
// Taking the oldest makes all agree on one, and the others shrink like any old set.
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

// maxHistoryLength bounds the annotation with earlier revisions of a set.
// The unit is bytes.
const maxHistoryLength = 2000

// appendRevision is the history of a set with one more revision; the oldest are dropped where it becomes too long.
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
