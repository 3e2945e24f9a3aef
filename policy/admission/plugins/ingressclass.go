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
		Name:      "DefaultIngressClass",
		Resources: []string{"networking.platform.io/ingresses"}, Operations: []request.Verb{request.Create},
		Plugin: defaultIngressClass{naming.Translate("platform.io/ingress.class"), classes}, Caches: []policy.Follower{classes},
	}
}

// defaultIngressClass knows the annotation that named the class before there was a field for it.
type defaultIngressClass struct {
	annotation string
	classes    *policy.Cache[Class]
}

// Admit implements admission.Admitter. A class that is given in either way stays, be it the empty one.
func (p defaultIngressClass) Admit(a *admission.Attributes) error {
	if a.New.Object("spec").Has("ingressClassName") || a.New.Object("metadata", "annotations").Has(p.annotation) {
		return nil
	}
	if name := defaultClass(p.classes); name != "" {
		a.New.EnsureObject("spec")["ingressClassName"] = name
	}
	return nil
}
