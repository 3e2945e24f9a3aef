package apps

import (
	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type replicaSetStrategy struct {
	schema.DefaultStrategy
	ZeroReplicasOnCreate
}

func (replicaSetStrategy) Default(obj tree.Tree) {
	pod.DefaultTemplate(obj.EnsureObject("spec", "template"))
}

// ZeroReplicasOnCreate sets the initial status of ReplicaSets and ReplicationControllers.
type ZeroReplicasOnCreate struct{}

// Prepare sets the status of a new object to zero replicas, because the field is required and
// clients print it.
func (ZeroReplicasOnCreate) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{"replicas": int64(0)}
	}
}
