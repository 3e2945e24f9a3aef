package storage

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// attachRequired cannot change, as attachments that exist were made, or not made, by its old value. The default of
// the modes is what drivers did before there was a choice.
type csiDriverStrategy struct{ schema.DefaultStrategy }

func (csiDriverStrategy) Default(obj tree.Tree) {
	if spec := obj.EnsureObject("spec"); len(spec.List("volumeLifecycleModes")) == 0 {
		spec["volumeLifecycleModes"] = []any{"Persistent"}
	}
}

func (csiDriverStrategy) Prepare(obj, old tree.Tree) {
	if old == nil { // generation counts updates only, and begins absent
		delete(obj.Object("metadata"), "generation")
	}
}

// Capacities are compared as quantities, not as text: "-1Gi" is negative however it is written.
type csiStorageCapacityStrategy struct {
	family.AlwaysWarns
	labels warning.NodeLabels
}
