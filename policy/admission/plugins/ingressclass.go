package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// DefaultIngressClass returns the plugin that sets the default class on new Ingresses without one.
// The legacy annotation counts as a class, because older controllers read it.
func DefaultIngressClass(naming *meta.Naming, classes *policy.Cache[Class]) admission.Registration {
	return admission.Register("DefaultIngressClass", defaultIngressClass{naming.Translate("platform.io/ingress.class"), classes}, classes)
}

type defaultIngressClass struct {
	annotation string
	classes    *policy.Cache[Class]
}

// Handles skips Ingresses that set the field or the annotation, even to "".
func (p defaultIngressClass) Handles(a *request.Attributes) bool {
	return !a.New.Object("spec").Has("ingressClassName") && !a.New.Annotations().Has(p.annotation)
}

func (p defaultIngressClass) Admit(a *request.Attributes) error {
	if name := defaultClass(p.classes); name != "" {
		a.New.EnsureObject("spec")["ingressClassName"] = name
	}
	return nil
}
