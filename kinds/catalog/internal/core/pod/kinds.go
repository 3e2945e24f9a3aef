package pod

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Kinds lists the kinds of Pods with their strategies. A Pod has four writers, each with a
// sub-resource that changes its own part: the scheduler binds, the node reports the status, an
// autoscaler resizes, and an operator adds a container for debugging. Binding keeps the generation,
// as it is no change of what was asked for, and has no owner. message finds the structure of a
// message by its name.
func Kinds(n *meta.Naming, message func(name string) *schema.Message) []family.Kind {
	mirror := n.Translate("platform.io/config.mirror")
	checks := newChecks(n)
	return []family.Kind{
		{Name: "/v1/Pod", Strategy: podStrategy{checks: checks, spec: message("core.v1.PodSpec")}, Views: family.Views{
			"binding":             {Write: bindPod, KeepsGeneration: true, KeepsOwners: true},
			"ephemeralcontainers": ephemeralView(mirror, message("core.v1.EphemeralContainer")),
			"resize":              resizeView(mirror),
			"status":              {Write: checks.writePodStatus, Warn: checks.warnPodStatus},
		}},
		{Name: "/v1/PodTemplate", Strategy: podTemplateStrategy{NewTemplateStrategy(n, "template")}},
	}
}

// RuleFunctions are the functions that declared rules call.
var RuleFunctions = map[string]schema.CheckFunc{
	"hostProcesses":   schema.ObjectCheck(validateHostProcesses),
	"podLevel":        schema.ObjectCheck(validatePodLevel),
	"podRequirements": schema.ObjectCheck(resourcelist.ValidatePodRequirements),
	"requirements":    schema.ObjectCheck(resourcelist.ValidateRequirements),
	"overhead": func(v any, path string, faults *schema.Faults) {
		resourcelist.ValidateRequirements(tree.Tree{"limits": v}, path, faults)
	},
	// disabledOperator refuses an operator that exists, and cannot be used without a feature that is off.
	"disabledOperator": func(v any, path string, faults *schema.Faults) {
		faults.NotSupported(path, v, []string{"Equal", "Exists", "Lt", "Gt"})
	},
}
