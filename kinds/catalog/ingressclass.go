package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func ingressClassRules() schema.Rules {
	return schema.Rules{Default: growSpec, Validate: validateIngressClass}
}

// growSpec lets a spec that is left out lack what an empty one lacks.
func growSpec(obj schema.Tree) { rules.Grow(obj, "spec") }

func validateIngressClass(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Sub(obj, "spec")
	if controller := rules.Text(spec, "controller"); controller != "" {
		for _, f := range rules.DomainPath(controller) {
			faults.Invalid("spec.controller", f.Value, f.Message)
		}
	}
	const path = "spec.parameters"
	ref := rules.Sub(spec, "parameters")
	if ref == nil {
		return
	}
	validateLocalRef(ref, path, faults)
	switch namespaced := rules.Has(ref, "namespace"); {
	case rules.Text(ref, "scope") == "Namespace" && !namespaced:
		faults.Required(path+".namespace", "`parameters.scope` is set to 'Namespace'")
	case rules.Text(ref, "scope") == "Namespace":
		for _, msg := range rules.Label(rules.Text(ref, "namespace")) {
			faults.Invalid(path+".namespace", ref["namespace"], msg)
		}
	case rules.Text(ref, "scope") == "Cluster" && namespaced:
		faults.Forbidden(path+".namespace", "`parameters.scope` is set to 'Cluster'")
	}
}
