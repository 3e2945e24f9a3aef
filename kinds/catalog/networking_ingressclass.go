package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func ingressClassRules() schema.Rules {
	return schema.Rules{Default: ensureSpec, Validate: validateIngressClass}
}

// ensureSpec lets a spec that is left out lack what an empty one lacks.
func ensureSpec(obj schema.Tree) { rules.EnsureNested(obj, "spec") }

func validateIngressClass(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	if controller := rules.String(spec, "controller"); controller != "" {
		for _, f := range rules.DomainPath(controller) {
			faults.Invalid("spec.controller", f.Value, f.Message)
		}
	}
	const path = "spec.parameters"
	ref := rules.Nested(spec, "parameters")
	if ref == nil {
		return
	}
	validateLocalRef(ref, path, faults)
	switch namespaced := rules.Has(ref, "namespace"); {
	case rules.String(ref, "scope") == "Namespace" && !namespaced:
		faults.Required(path+".namespace", "`parameters.scope` is set to 'Namespace'")
	case rules.String(ref, "scope") == "Namespace":
		for _, msg := range rules.Label(rules.String(ref, "namespace")) {
			faults.Invalid(path+".namespace", ref["namespace"], msg)
		}
	case rules.String(ref, "scope") == "Cluster" && namespaced:
		faults.Forbidden(path+".namespace", "`parameters.scope` is set to 'Cluster'")
	}
}
