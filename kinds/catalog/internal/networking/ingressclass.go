package networking

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func ingressClassRules() schema.Rules {
	return schema.Rules{Default: ensureSpec, Validate: validateIngressClass}
}

// ensureSpec adds a missing spec, so that its required fields are reported.
func ensureSpec(obj tree.Tree) { obj.EnsureObject("spec") }

func validateIngressClass(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if controller := spec.String("controller"); controller != "" {
		for _, f := range rules.DomainPath(controller) {
			faults.Invalid("spec.controller", f.Value, f.Message)
		}
	}
	const path = "spec.parameters"
	ref := spec.Object("parameters")
	if ref == nil {
		return
	}
	validateLocalRef(ref, path, faults)
	switch namespaced := ref.Has("namespace"); {
	case ref.String("scope") == "Namespace" && !namespaced:
		faults.Required(path+".namespace", "`parameters.scope` is set to 'Namespace'")
	case ref.String("scope") == "Namespace":
		for _, msg := range rules.Label(ref.String("namespace")) {
			faults.Invalid(path+".namespace", ref["namespace"], msg)
		}
	case ref.String("scope") == "Cluster" && namespaced:
		faults.Forbidden(path+".namespace", "`parameters.scope` is set to 'Cluster'")
	}
}
