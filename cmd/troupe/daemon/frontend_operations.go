package daemon

import (
	"context"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/operations"
	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	"github.com/troupe-api/troupe/policy/authz"
)

// newOperations returns the handlers of virtual resources, which store no objects. A key consists
// of the API version, with the platform profile's group name, and the resource, such as
// "/v1/bindings".
func (f *frontEnd) newOperations() map[string]http.Operation {
	who := authn.Reviewer{Authenticator: f.authentication.authenticator, Audiences: f.identity.tokens.audiences}
	may := authz.Reviewer{Authorizer: f.policy.authorizer}
	access := http.Operation{Answer: func(_ context.Context, c http.OperationRequest) (tree.Tree, error) {
		return may.Access(c.Kind, c.Object)
	}}
	return map[string]http.Operation{
		"/v1/bindings":              f.bindingOperation(),
		"/v1/pods/eviction":         f.evictionOperation(),
		"/v1/serviceaccounts/token": f.tokenRequestOperation(),
		"authentication.platform.io/v1/selfsubjectreviews": {Answer: func(_ context.Context, c http.OperationRequest) (tree.Tree, error) {
			return authn.SelfReview(c.Object, c.User, f.now().UTC().Format(time.RFC3339)), nil
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

func (f *frontEnd) evictionOperation() http.Operation {
	evictor := operations.NewEvictor(f.storage.store, f.pods(),
		f.storage.kinds.ByGVK(meta.GroupVersionKind{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}))
	return http.Operation{Answer: func(ctx context.Context, c http.OperationRequest) (tree.Tree, error) {
		if c.Object.Name() != c.Key.Name {
			return nil, meta.NewBadRequest("name in URL does not match name in Eviction object")
		}
		v, err := operations.ReadEviction(c.Key, c.Object, f.naming)
		if err != nil {
			return nil, err
		}
		v.DryRun, v.Manager = v.DryRun || c.DryRun, c.Manager
		return nil, evictor.Evict(ctx, v)
	}}
}

// bindingOperation assigns the Pod with the Binding's name to a node. Only old schedulers create
// bindings in the collection. Others use the equivalent binding subresource of the Pod.
func (f *frontEnd) bindingOperation() http.Operation {
	pods := f.pods()
	return http.Operation{Answer: func(ctx context.Context, c http.OperationRequest) (tree.Tree, error) {
		if c.Key.Name == "" {
			return nil, meta.NewBadRequest("a Binding needs the name of its Pod")
		}
		_, err := f.storage.store.Mutate(ctx, request.Mutation{
			Kind: pods, Subresource: "binding", Change: request.Create{Object: c.Object}, DryRun: c.DryRun, FieldManager: c.Manager,
			Key: meta.Key{GroupResource: pods.Storage, Namespace: c.Key.Namespace, Name: c.Key.Name},
		})
		return nil, err
	}}
}

func (f *frontEnd) pods() *schema.Kind {
	return f.storage.kinds.ByGVK(meta.GroupVersionKind{Version: "v1", Kind: "Pod"})
}

func (f *frontEnd) tokenRequestOperation() http.Operation {
	g := &serviceaccount.TokenRequestHandler{
		Issuer: f.identity.tokens.boundIssuer, Objects: f.storage.objects, Audiences: f.identity.tokens.audiences,
		MaxExpiration:    time.Duration(f.config.ServiceAccounts.MaxTokenExpiration),
		ExtendExpiration: f.config.ServiceAccounts.ExtendTokenExpiration, Now: f.now,
	}
	issued := strings.Replace(f.naming.Translate(authn.CredentialID), "/", "/issued-", 1)
	request := func(c http.OperationRequest) serviceaccount.TokenRequest {
		return serviceaccount.TokenRequest{
			Kind: c.Kind, Key: c.Key, Object: c.Object, Manager: c.Manager, Issued: func(id string) { c.Annotate(issued, id) },
		}
	}
	return http.Operation{
		Complete: func(c http.OperationRequest) error { return g.Complete(request(c)) },
		Answer: func(_ context.Context, c http.OperationRequest) (tree.Tree, error) {
			warnings, err := g.CreateToken(request(c))
			for _, text := range warnings {
				c.Warn(text)
			}
			return c.Object, err
		},
	}
}
