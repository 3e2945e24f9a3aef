package pod

import (
	"github.com/troupe-api/troupe/kinds/api/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Kinds returns the Pod kinds with their strategies. Each writer of a Pod has its own subresource:
// schedulers bind Pods, nodes report their status, autoscalers resize them, and operators add
// ephemeral containers. A binding changes neither generation nor managed fields. message looks up a
// Declaration by name.
func Kinds(n *meta.Naming, message func(name string) *schema.Declaration, enabled func(feature string) bool) []schema.Behavior {
	mirror := n.Translate("platform.io/config.mirror")
	strategy := podStrategy{protocols: enabled("H2CContainerProbe"), appArmor: n.Translate("container.apparmor.security.beta.platform.io/"), pod: message("core.v1.Pod"), spec: message("core.v1.PodSpec")}
	return []schema.Behavior{
		{Name: "/v1/Pod", Strategy: strategy, Views: schema.Views{
			"binding":             {Write: bindPod, KeepsGeneration: true, KeepsOwners: true},
			"ephemeralcontainers": ephemeralView(mirror, message("core.v1.EphemeralContainer")),
			"resize":              resizeView(mirror),
			"status":              {Write: strategy.writePodStatus},
		}},
		{Name: "/v1/PodTemplate", Strategy: podTemplateStrategy{}},
	}
}

// RuleFunctions contains the functions that declarative rules call by name.
var RuleFunctions = map[string]schema.CheckFunc{
	"fileOverlaps":    schema.ObjectCheck(warnOfFileOverlaps),
	"portOverlaps":    schema.ObjectCheck(warnOfPortOverlaps),
	"hugePages":       validatePages,
	"podLevel":        schema.ObjectCheck(validatePodLevel),
	"podRequirements": schema.ObjectCheck(resourcelist.ValidatePodRequirements),
	"requirements":    schema.ObjectCheck(resourcelist.ValidateRequirements),
	"overhead": func(v any, path string, faults *schema.Faults) {
		resourcelist.ValidateRequirements(tree.Tree{"limits": v}, path, faults)
	},
	// disabledOperator rejects an operator whose feature gate is disabled.
	"disabledOperator": func(v any, path string, faults *schema.Faults) {
		faults.NotSupported(path, v, []string{"Equal", "Exists", "Lt", "Gt"})
	},
}
