package networking

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ingressClassStrategy lets the default class be chosen by an annotation, of which a second one is
// no fault: an administrator changes it in two steps.
type ingressClassStrategy struct{ schema.DefaultStrategy }

// Validate ties the namespace of the parameters to their scope, so that nobody can read one without
// the other and take a cluster's object for that of a namespace.
func (ingressClassStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if controller := spec.String("controller"); controller != "" {
		for _, f := range rules.DomainPath(controller) {
			faults.Invalid("spec.controller", f.Value, f.Message)
		}
	}
	const path = "spec.parameters"
	ref := spec.Object("parameters")
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
