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

// Default copies the template's labels to an empty selector and to empty object labels. apps/v1 has
// no such default, because the copies do not follow later template changes.
func (replicationControllerStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	template := spec.Object("template")
	if template == nil {
		return
	}
	pod.DefaultTemplate(template)
	labels := template.Labels()
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
