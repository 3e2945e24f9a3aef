package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func replicationControllerRules() schema.Rules {
	return schema.Rules{
		Default: defaultReplicationController, Prepare: startSized, Validate: validateReplicationController,
	}
}

// defaultReplicationController takes the labels of the template for the selector and for the
// object, where those are not given.
func defaultReplicationController(obj schema.Tree) {
	spec := rules.Grow(obj, "spec")
	template := rules.Sub(spec, "template")
	if template == nil {
		return
	}
	defaultTemplate(template)
	labels := rules.Sub(template, "metadata", "labels")
	if len(labels) == 0 {
		return
	}
	if len(rules.Sub(spec, "selector")) == 0 {
		spec["selector"] = rules.Clone(labels)
	}
	if metadata := rules.Grow(obj, "metadata"); len(rules.Sub(metadata, "labels")) == 0 {
		metadata["labels"] = rules.Clone(labels)
	}
}

func validateReplicationController(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Sub(obj, "spec")
	notNegative(spec, "spec", faults, "minReadySeconds")
	selector, template := rules.Sub(spec, "selector"), rules.Sub(spec, "template")
	if len(selector) == 0 {
		faults.Required("spec.selector")
	}
	notNegative(spec, "spec", faults, "replicas")
	if template == nil {
		faults.Required("spec.template")
	} else {
		if len(selector) > 0 {
			validateSelected(schema.Tree{"matchLabels": selector}, template, "spec.template", faults)
		}
		validateTemplate(template, "spec.template", nil, faults)
		validateEndless(template, "spec.template", "ReplicationController", faults)
	}
	validateReplicaCounts(obj, faults)
}
