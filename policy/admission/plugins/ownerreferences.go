package plugins

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authz"
)

// OwnerReferencesPermissionEnforcement returns the plugin that protects owner references. Changing
// owners requires permission to delete the object, because the garbage collector could then delete
// the object. Setting blockOwnerDeletion requires permission to update the owner's finalizers.
//
// kinds returns a served kind, or nil. The plugin may block, because authorizers may be remote.
func OwnerReferencesPermissionEnforcement(authorizer authz.Authorizer, kinds func(meta.GroupVersionKind) *schema.Kind) admission.Registration {
	r := admission.Register("OwnerReferencesPermissionEnforcement", ownerPermission{authorizer, kinds})
	r.Selects = func(k *schema.Kind, subresource string) bool { // a Pod's status update cannot change its owners
		return k.Storage != meta.GroupResource{Resource: "pods"} || subresource != "status"
	}
	return r
}

type ownerPermission struct {
	authorizer authz.Authorizer
	kinds      func(meta.GroupVersionKind) *schema.Kind
}

func (p ownerPermission) Handles(a *request.Attributes) bool {
	return !tree.SemanticEqual(a.Old.Object("metadata")["ownerReferences"], a.New.Object("metadata")["ownerReferences"])
}

// Validate checks that the user may change the owner references. On create, it does not require
// permission to delete, because the requester owns the new object. Messages end in ", <nil>" as in
// Kubernetes.
func (p ownerPermission) Validate(a *request.Attributes) error {
	if a.Old != nil {
		if ok, reason := p.allows(deleteAttributes(a)); !ok {
			return a.Forbidden(fmt.Sprintf("cannot set an ownerRef on a resource you can't delete: %s, <nil>", reason))
		}
	}
	blocking := newBlockingOwners(a.Old, a.New)
	if len(blocking) == 0 {
		return nil
	}
	// A user with permission to update all finalizers may also reference kinds that are not served.
	all := authz.Attributes{User: a.User, Verb: "update", ResourceRequest: true, Group: "*", Version: "*", Resource: "*", Subresource: "finalizers", Name: "*"}
	if ok, _ := p.allows(all); ok {
		return nil
	}
	for _, owner := range blocking {
		if err := p.checkFinalizers(a, owner); err != nil {
			return err
		}
	}
	return nil
}

func deleteAttributes(a *request.Attributes) authz.Attributes {
	return authz.Attributes{
		User: a.User, Verb: "delete", ResourceRequest: true,
		Group: a.Kind.Group, Version: a.Kind.Version, Resource: a.Kind.Resource, Subresource: a.Subresource,
		Namespace: a.Key.Namespace, Name: a.Key.Name,
	}
}

// checkFinalizers requires permission to update an owner's finalizers. It rejects an owner of an
// unserved kind, because its resource is unknown.
func (p ownerPermission) checkFinalizers(a *request.Attributes, owner tree.Tree) error {
	apiVersion, kind := owner.String("apiVersion"), owner.String("kind")
	k := p.kinds(meta.ParseGVK(apiVersion, kind))
	if k == nil {
		return a.Forbidden(fmt.Sprintf("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion %s Kind %s: no matches for kind %q in version %q",
			apiVersion, kind, kind, apiVersion))
	}
	finalizers := authz.Attributes{
		User: a.User, Verb: "update", ResourceRequest: true,
		Group: k.Group, Version: k.Version, Resource: k.Resource, Subresource: "finalizers", Name: owner.String("name"),
	}
	if k.Namespaced {
		finalizers.Namespace = a.Key.Namespace // owners share the namespace of their dependents
	}
	if ok, reason := p.allows(finalizers); !ok {
		return a.Forbidden(fmt.Sprintf("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: %s, <nil>", reason))
	}
	return nil
}

func (p ownerPermission) allows(a authz.Attributes) (ok bool, reason string) {
	decision, reason := p.authorizer.Authorize(a)
	return decision == authz.Allow, reason
}

// newBlockingOwners returns the owners with newly set blockOwnerDeletion. It compares UIDs, because
// names may be reused.
func newBlockingOwners(old, wanted tree.Tree) (owners []tree.Tree) {
	blocked := map[string]bool{}
	for _, owner := range old.Object("metadata").Objects("ownerReferences") {
		blocked[owner.String("uid")] = owner.Bool("blockOwnerDeletion")
	}
	for _, owner := range wanted.Object("metadata").Objects("ownerReferences") {
		if owner.Bool("blockOwnerDeletion") && !blocked[owner.String("uid")] {
			owners = append(owners, owner)
		}
	}
	return owners
}
