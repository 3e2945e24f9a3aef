package core

import (
	"github.com/troupe-api/troupe/kinds/api/apps"
	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type replicationControllerStrategy struct {
	schema.DefaultStrategy
	apps.ZeroReplicasOnCreate
}

func (replicationControllerStrategy) DefaultPropagation() (policy, warning string) {
	return "Orphan", ""
}

// Default copies the labels of the template to the selector and to the object if these are empty.
// apps/v1 does not, because derived labels do not follow later changes to the template.
func (replicationControllerStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	template := spec.Object("template")
	if template == nil {
		return
	}
	pod.DefaultTemplate(template)
	labels := template.Object("metadata", "labels")
	if len(labels) == 0 {
		return
	}
	if len(spec.Object("selector")) == 0 {
		spec["selector"] = tree.Clone(labels)
	}
	if metadata := obj.EnsureObject("metadata"); len(metadata.Object("labels")) == 0 {
		metadata["labels"] = tree.Clone(labels)
	}
}
