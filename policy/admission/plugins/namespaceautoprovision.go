package plugins

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission"
)

// A NamespaceCreator makes namespaces. CreateNamespace returns nil if there is one of that name.
type NamespaceCreator interface {
	CreateNamespace(ctx context.Context, name string) error
}

// NamespaceAutoProvision makes the namespace of a new object if it does not exist. It is for clusters whose
// users may create namespaces anyway; with it, a mistyped name makes a new namespace instead of an error.
func NamespaceAutoProvision(objects MetaReader, creator NamespaceCreator) admission.Registration {
	return admission.Registration{
		Name:      "NamespaceAutoProvision",
		Provision: namespaceProvisioner{objects, creator}.provision,
	}
}

// namespaceProvisioner looks whether the namespace exists first, so that only the first object of a namespace costs a write.
type namespaceProvisioner struct {
	objects MetaReader
	creator NamespaceCreator
}

// provision runs before the mutation reaches the object's owner, because it writes, and an owner must not wait
// for another write.
func (p namespaceProvisioner) provision(ctx context.Context, k *schema.Kind, key meta.Key) error {
	if !k.Namespaced || key.Namespace == "" {
		return nil
	}
	if _, exists := p.objects.GetMeta(namespaces, "", key.Namespace); exists {
		return nil
	}
	if err := p.creator.CreateNamespace(ctx, key.Namespace); err != nil {
		return meta.NewForbidden(meta.GroupResource{Group: k.Group, Resource: k.Resource}, key.Name, err.Error())
	}
	return nil
}
