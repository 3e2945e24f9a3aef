package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// DefaultIngressClass gives a new Ingress that names no class, by field or annotation, the default one. An
// annotation counts as a choice, since controllers from before the field read it.
func DefaultIngressClass(naming *meta.Naming, classes *policy.Cache[Class]) admission.Registration {
	return admission.Registration{
		Name: "DefaultIngressClass", Resources: []string{"networking.platform.io/ingresses"}, Caches: []policy.Follower{classes},
		Plugin: request.Plugin{Operations: request.OnCreate, Mutator: defaultIngressClass{naming.Translate("platform.io/ingress.class"), classes}},
	}
}

// defaultIngressClass knows the annotation that named the class before there was a field for it.
type defaultIngressClass struct {
	annotation string
	classes    *policy.Cache[Class]
}

// Handles implements request.Mutator. A class that is given in either way stays, even the empty one.
func (p defaultIngressClass) Handles(a *request.Attributes) bool {
	return !a.New.Object("spec").Has("ingressClassName") && !a.New.Object("metadata", "annotations").Has(p.annotation)
}

// Admit implements request.Mutator.
func (p defaultIngressClass) Admit(a *request.Attributes) error {
	if name := defaultClass(p.classes); name != "" {
		a.New.EnsureObject("spec")["ingressClassName"] = name
	}
	return nil
}
