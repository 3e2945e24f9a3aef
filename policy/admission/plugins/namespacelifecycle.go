package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// NamespaceLifecycle refuses what is created of objects, as bindings, evictions and tokens, in a namespace that is being
// deleted. That no object itself is created there is part of how objects are stored.
func NamespaceLifecycle(objects MetaReader) admission.Registration {
	return admission.Registration{
		Name: "NamespaceLifecycle", Resources: []string{"/bindings", "/pods/binding", "/pods/eviction", "/serviceaccounts/token"},
		Plugin: request.Plugin{Operations: request.OnCreate, Mutator: namespaceLifecycle{objects: objects}},
	}
}

type namespaceLifecycle struct {
	request.HandlesAll
	objects MetaReader
}

// Admit implements request.Mutator. It changes nothing, and is one so that no webhook is asked first.
func (p namespaceLifecycle) Admit(a *request.Attributes) error {
	namespace, exists := p.objects.GetMeta(namespaces, "", a.Key.Namespace)
	if !exists || !namespace.Terminating {
		return nil
	}
	return meta.NewNamespaceTerminating(meta.GroupResource{Group: a.Kind.Group, Resource: a.Kind.Resource}, a.Key)
}
