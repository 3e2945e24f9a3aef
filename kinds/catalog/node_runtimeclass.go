package catalog

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func runtimeClassRules() schema.Rules {
	return schema.Rules{
		Validate: validateRuntimeClass,
		ValidateUpdate: func(obj, old schema.Tree, faults *schema.Faults) {
			validateImmutableField(obj, old, "", "handler", faults)
		},
	}
}

func validateRuntimeClass(obj schema.Tree, faults *schema.Faults) {
	handler := rules.String(obj, "handler")
	for _, msg := range rules.Label(handler) {
		faults.Invalid("handler", handler, msg)
	}
	if fixed := rules.Nested(obj, "overhead", "podFixed"); fixed != nil {
		validateResources(schema.Tree{"limits": fixed}, "overhead", faults)
	}
	scheduling := rules.Nested(obj, "scheduling")
	rules.ValidateLabels(rules.Nested(scheduling, "nodeSelector"), "scheduling.nodeSelector", faults)
	tolerations, seen := rules.Trees(scheduling, "tolerations"), rules.Seen{}
	for i, t := range tolerations {
		at := rules.IndexPath("scheduling.tolerations", i)
		validateToleration(t, at, faults)
		if seen.Repeats(string(codec.AppendAny(nil, t))) {
			faults.Duplicate(at, t)
		}
	}
}
