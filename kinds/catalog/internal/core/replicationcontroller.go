package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/apps"
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func replicationControllerRules() schema.Rules {
	return schema.Rules{
		Default: defaultReplicationController, Prepare: apps.ResetReplicaSetStatus, Validate: validateReplicationController,
	}
}

// defaultReplicationController copies the labels of the template to the selector and to the object
// where those have none.
func defaultReplicationController(obj tree.Tree) {
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

func validateReplicationController(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	field.NonNegative(spec, "spec", faults, "minReadySeconds")
	selector, template := spec.Object("selector"), spec.Object("template")
	if len(selector) == 0 {
		faults.Required("spec.selector")
	}
	field.NonNegative(spec, "spec", faults, "replicas")
	if template == nil {
		faults.Required("spec.template")
	} else {
		if len(selector) > 0 {
			pod.ValidateSelectorMatchesTemplate(tree.Tree{"matchLabels": selector}, template, "spec.template", faults)
		}
		pod.ValidateTemplate(template, "spec.template", nil, faults)
		pod.ValidateLongRunningTemplate(template, "spec.template", "ReplicationController", faults)
	}
	apps.ValidateReplicaCounts(obj, faults)
}
