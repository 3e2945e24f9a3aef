package daemon

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
)

// serverUser is who writes of the server itself are from, where admission asks.
var serverUser = &authn.User{Name: "system:apiserver", Groups: []string{authn.GroupMasters, authn.GroupAuthenticated}}

// An admittingStore admits writes of the server itself as it does those of clients: defaults, quotas, webhooks and
// policies count for them too.
type admittingStore struct {
	controllers.Store
	admission *admission.Chain
}

// admitting is a store whose changes are admitted. There is an admission when the policies are made.
func (d *Daemon) admitting(s controllers.Store) controllers.Store {
	return admittingStore{s, d.admission}
}

// DeleteCollection implements controllers.Store.
func (s admittingStore) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error) {
	key := meta.Key{GroupResource: l.Kind.Storage, Namespace: l.Namespace}
	m.Admission = s.admission.For(serverUser, request.Delete, l.Kind, "", key)
	m.Waiting = s.admission.Waiting(serverUser, l.Kind, "", l.Namespace)
	return s.Store.DeleteCollection(ctx, l, m)
}

// Mutate implements controllers.Store.
func (s admittingStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	m.Admission = s.admission.For(serverUser, m.Verb, m.Kind, m.Subresource, m.Key)
	m.Waiting = s.admission.Waiting(serverUser, m.Kind, m.Subresource, m.Key.Namespace)
	return s.Store.Mutate(ctx, m)
}
