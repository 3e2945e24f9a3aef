package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// TaintNodesByCondition returns the plugin that taints new nodes as not ready. Otherwise the
// scheduler could use a new node before a controller has checked the node's conditions and removed
// the taint.
func TaintNodesByCondition(naming *meta.Naming) admission.Registration {
	return admission.Register("TaintNodesByCondition", nodeTaint{key: naming.Translate("node.platform.io/not-ready")})
}

type nodeTaint struct {
	request.HandlesAll
	key string
}

// Admit skips nodes that already have the taint.
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
