package storage

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// csiDriverStrategy defaults volumeLifecycleModes to Persistent, the only mode before the field was
// introduced.
type csiDriverStrategy struct{ schema.DefaultStrategy }

func (csiDriverStrategy) Default(obj tree.Tree) {
	if spec := obj.EnsureObject("spec"); len(spec.List("volumeLifecycleModes")) == 0 {
		spec["volumeLifecycleModes"] = []any{"Persistent"}
	}
}

func (csiDriverStrategy) Prepare(obj, old tree.Tree) {
	if old == nil { // the generation is absent until the first update
		delete(obj.Object("metadata"), "generation")
	}
}
