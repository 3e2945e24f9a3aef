package catalog

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func replicationControllerRules() schema.Rules {
	return schema.Rules{
		Default: defaultReplicationController, Prepare: resetReplicaSetStatus, Validate: validateReplicationController,
	}
}

// defaultReplicationController takes the labels of the template for the selector and for the
// object, where those are not given.
func defaultReplicationController(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	template := spec.Object("template")
	if template == nil {
		return
	}
	defaultTemplate(template)
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
	validateNonNegative(spec, "spec", faults, "minReadySeconds")
	selector, template := spec.Object("selector"), spec.Object("template")
	if len(selector) == 0 {
		faults.Required("spec.selector")
	}
	validateNonNegative(spec, "spec", faults, "replicas")
	if template == nil {
		faults.Required("spec.template")
	} else {
		if len(selector) > 0 {
			validateSelectorMatchesTemplate(tree.Tree{"matchLabels": selector}, template, "spec.template", faults)
		}
		validateTemplate(template, "spec.template", nil, faults)
		validateLongRunningTemplate(template, "spec.template", "ReplicationController", faults)
	}
	validateReplicaCounts(obj, faults)
}
