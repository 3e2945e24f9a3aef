package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// NamespaceLifecycle returns the plugin that rejects new subresources, such as bindings, in
// terminating namespaces. The store itself rejects new objects there.
func NamespaceLifecycle(objects MetaReader) admission.Registration {
	return admission.Register("NamespaceLifecycle", namespaceLifecycle{objects: objects})
}

type namespaceLifecycle struct {
	request.HandlesAll
	objects MetaReader
}

// Admit changes nothing. The check runs in a mutator, so that it precedes webhook calls.
func (p namespaceLifecycle) Admit(a *request.Attributes) error {
	namespace, exists := p.objects.GetMeta(namespaces, "", a.Key.Namespace)
	if !exists || !namespace.Terminating {
		return nil
	}
	return meta.NewNamespaceTerminating(a.Kind.GroupResource(), a.Key)
}
