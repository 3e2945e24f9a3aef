package daemon

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
)

// serverUser is the user that admission sees for the server's own writes.
var serverUser = &authn.User{Name: "system:apiserver", Groups: []string{authn.GroupMasters, authn.GroupAuthenticated}}

// An admittingStore runs admission on the server's own writes, so that defaults, quotas, webhooks
// and policies apply to them too.
type admittingStore struct {
	controllers.Store
	admission *admission.Chain
}

func (p *policies) admitting(s controllers.Store) controllers.Store {
	return admittingStore{s, p.admission}
}

func (s admittingStore) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error) {
	m.Admission = s.admission.For(serverUser, l.Kind, "", l.Namespace)
	return s.Store.DeleteCollection(ctx, l, m)
}

func (s admittingStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	m.Admission = s.admission.For(serverUser, m.Kind, m.Subresource, m.Key.Namespace)
	return s.Store.Mutate(ctx, m)
}

// CreateNamespace creates a namespace for plugins.NamespaceCreator with the server's permissions,
// so that users need no permission to create namespaces. An existing namespace is not an error.
func (p *policies) CreateNamespace(ctx context.Context, name string) error {
	k := p.storage.kinds.ByGVK(meta.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	_, err := p.admitting(p.storage.store).Mutate(ctx, request.Mutation{
		Kind: k, Key: meta.Key{GroupResource: k.Storage, Name: name},
		Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": name}}},
	})
	if meta.HasReason(err, meta.ReasonAlreadyExists) {
		return nil
	}
	return err
}
