package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func replicationControllerRules() schema.Rules {
	return schema.Rules{
		Default: defaultReplicationController, Prepare: resetReplicaSetStatus, Validate: validateReplicationController,
	}
}

// defaultReplicationController takes the labels of the template for the selector and for the
// object, where those are not given.
func defaultReplicationController(obj schema.Tree) {
	spec := rules.EnsureNested(obj, "spec")
	template := rules.Nested(spec, "template")
	if template == nil {
		return
	}
	defaultTemplate(template)
	labels := rules.Nested(template, "metadata", "labels")
	if len(labels) == 0 {
		return
	}
	if len(rules.Nested(spec, "selector")) == 0 {
		spec["selector"] = rules.Clone(labels)
	}
	if metadata := rules.EnsureNested(obj, "metadata"); len(rules.Nested(metadata, "labels")) == 0 {
		metadata["labels"] = rules.Clone(labels)
	}
}

func validateReplicationController(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	validateNonNegative(spec, "spec", faults, "minReadySeconds")
	selector, template := rules.Nested(spec, "selector"), rules.Nested(spec, "template")
	if len(selector) == 0 {
		faults.Required("spec.selector")
	}
	validateNonNegative(spec, "spec", faults, "replicas")
	if template == nil {
		faults.Required("spec.template")
	} else {
		if len(selector) > 0 {
			validateSelectorMatchesTemplate(schema.Tree{"matchLabels": selector}, template, "spec.template", faults)
		}
		validateTemplate(template, "spec.template", nil, faults)
		validateLongRunningTemplate(template, "spec.template", "ReplicationController", faults)
	}
	validateReplicaCounts(obj, faults)
}
