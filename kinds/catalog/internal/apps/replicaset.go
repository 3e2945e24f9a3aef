package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/tree"
)

// replicaSetStrategy is shared in part with ReplicationController, the older form of the same
// thing.
type replicaSetStrategy struct {
	NamedWorkload
	ZeroReplicasOnCreate
}

func (replicaSetStrategy) Default(obj tree.Tree) {
	pod.DefaultTemplate(obj.EnsureObject("spec", "template"))
}

// ZeroReplicasOnCreate is the Preparer of ReplicaSets and ReplicationControllers.
type ZeroReplicasOnCreate struct{}

// Prepare gives a new object a status of zero replicas.
//
// The number is written even though it is zero, because the field is required and clients print it.
func (ZeroReplicasOnCreate) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{"replicas": int64(0)}
	}
}
