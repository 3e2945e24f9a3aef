package plugins

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission"
)

// A NamespaceCreator creates namespaces. CreateNamespace returns nil if the namespace already
// exists.
type NamespaceCreator interface {
	CreateNamespace(ctx context.Context, name string) error
}

// NamespaceAutoProvision returns the plugin that creates the missing namespace of a new object. It
// suits clusters whose users may create namespaces anyway, because a mistyped name creates one,
// too.
func NamespaceAutoProvision(objects MetaReader, creator NamespaceCreator) admission.Registration {
	return admission.Registration{
		Name:      "NamespaceAutoProvision",
		Provision: namespaceProvisioner{objects, creator}.provision,
	}
}

type namespaceProvisioner struct {
	objects MetaReader
	creator NamespaceCreator
}

// provision creates a missing namespace. It runs before the mutation reaches its activation,
// because an activation must not wait for another write.
func (p namespaceProvisioner) provision(ctx context.Context, k *schema.Kind, key meta.Key) error {
	if !k.Namespaced || key.Namespace == "" {
		return nil
	}
	if _, exists := p.objects.GetMeta(namespaces, "", key.Namespace); exists {
		return nil
	}
	if err := p.creator.CreateNamespace(ctx, key.Namespace); err != nil {
		return meta.NewForbidden(k.GroupResource(), key.Name, err.Error())
	}
	return nil
}
