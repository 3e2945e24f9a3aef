package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// TaintNodesByCondition keeps Pods off a new node until it says that it is ready. A scheduler sees the node
// with its first write, before anything could have tainted it; a controller takes the taint off.
func TaintNodesByCondition(naming *meta.Naming) admission.Registration {
	return admission.Registration{
		Name: "TaintNodesByCondition", Resources: []string{"/nodes"},
		Plugin: request.Plugin{Operations: request.OnCreate, Mutator: nodeTaint{key: naming.Translate("node.platform.io/not-ready")}},
	}
}

// nodeTaint has the key of the taint under its name in the naming profile.
type nodeTaint struct {
	request.HandlesAll
	key string
}

// Admit implements request.Mutator. A node that brings the taint itself does not get it twice.
func (p nodeTaint) Admit(a *request.Attributes) error {
	spec := a.New.EnsureObject("spec")
	for _, t := range spec.Objects("taints") {
		if t.String("key") == p.key && t.String("effect") == "NoSchedule" {
			return nil
		}
	}
	taint := tree.Tree{"key": p.key, "effect": "NoSchedule"}
	spec["taints"] = append(slices.Clone(spec.List("taints")), any(taint))
	return nil
}
