package daemon

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/operations"
	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// newOperations are the creates that store no object of their own kind, by version and resource. Reviews
// answer questions about users and store nothing. Names are in platform form, as in declarations.
func (d *Daemon) newOperations(kinds *catalog.Catalog, p *policies) map[string]http.Operation {
	who := authn.Reviewer{Authenticator: p.authenticator, Audiences: d.serviceAccountTokens.audiences}
	may := authz.Reviewer{Authorizer: p.authorizer}
	access := http.Operation{Answer: func(_ context.Context, c http.OperationRequest) (tree.Tree, error) {
		return may.Access(c.Kind, c.Object)
	}}
	return map[string]http.Operation{
		"/v1/bindings":              d.bindingOperation(kinds),
		"/v1/pods/eviction":         d.evictionOperation(kinds),
		"/v1/serviceaccounts/token": d.tokenRequestOperation(),
		"authentication.platform.io/v1/selfsubjectreviews": {Answer: func(_ context.Context, c http.OperationRequest) (tree.Tree, error) {
			return authn.SelfReview(c.Object, c.User, d.now().UTC().Format(time.RFC3339)), nil
		}},
		"authentication.platform.io/v1/tokenreviews": {Answer: func(_ context.Context, c http.OperationRequest) (tree.Tree, error) {
			return who.Token(c.Object)
		}},
		"authorization.platform.io/v1/localsubjectaccessreviews": access,
		"authorization.platform.io/v1/selfsubjectaccessreviews": {Answer: func(_ context.Context, c http.OperationRequest) (tree.Tree, error) {
			return may.SelfAccess(c.Kind, c.Object, c.User)
		}},
		"authorization.platform.io/v1/selfsubjectrulesreviews": {Answer: func(_ context.Context, c http.OperationRequest) (tree.Tree, error) {
			return may.SelfRules(c.Object, c.User)
		}},
		"authorization.platform.io/v1/subjectaccessreviews": access,
	}
}

// evictionOperation deletes a Pod, unless a PodDisruptionBudget forbids it.
func (d *Daemon) evictionOperation(kinds *catalog.Catalog) http.Operation {
	evictor := operations.NewEvictor(d.store, podsOf(kinds),
		kinds.ByGVK(meta.GroupVersionKind{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}))
	return http.Operation{Answer: func(ctx context.Context, c http.OperationRequest) (tree.Tree, error) {
		if c.Object.Object("metadata").String("name") != c.Key.Name {
			return nil, meta.NewBadRequest("name in URL does not match name in Eviction object")
		}
		v, err := operations.ReadEviction(c.Key, c.Object, d.naming)
		if err != nil {
			return nil, err
		}
		v.DryRun, v.Manager = v.DryRun || c.DryRun, c.Manager
		return nil, evictor.Evict(ctx, v)
	}}
}

// bindingOperation puts a Pod on a node: a binding in the collection is that of the Pod of its name.
// Schedulers of old post to the collection; newer ones use the Pod's sub-resource, which does the same.
func (d *Daemon) bindingOperation(kinds *catalog.Catalog) http.Operation {
	pods := podsOf(kinds)
	return http.Operation{Answer: func(ctx context.Context, c http.OperationRequest) (tree.Tree, error) {
		if c.Key.Name == "" {
			return nil, meta.NewBadRequest("a Binding needs the name of the Pod that it binds")
		}
		_, err := d.store.Mutate(ctx, request.Mutation{
			Verb: request.Create, Kind: pods, Subresource: "binding", Object: c.Object, DryRun: c.DryRun, FieldManager: c.Manager,
			Key: meta.Key{GroupResource: pods.Storage, Namespace: c.Key.Namespace, Name: c.Key.Name},
		})
		return nil, err
	}}
}

// podsOf is the kind of Pods, which is always served.
func podsOf(kinds *catalog.Catalog) *schema.Kind {
	return kinds.ByGVK(meta.GroupVersionKind{Version: "v1", Kind: "Pod"})
}
