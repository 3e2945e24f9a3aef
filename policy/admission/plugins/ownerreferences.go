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

// OwnerReferencesPermissionEnforcement asks of who changes the owners of an object the right to delete
// that, and of who makes it block the deletion of an owner the right to update the finalizers of the owner.
// kinds finds a served kind; it returns nil if there is none. Through the garbage collector, owner
// references delete objects and hold up deletions; without this check, a right to update would amount to
// those. It waits, because an authorizer may be remote.
func OwnerReferencesPermissionEnforcement(authorizer authz.Authorizer, kinds func(meta.GroupVersionKind) *schema.Kind) admission.Registration {
	return admission.Registration{
		Name: "OwnerReferencesPermissionEnforcement", Resources: []string{"*"},
		Selects: func(k *schema.Kind, subresource string) bool { // the status of a Pod cannot change its owners
			return k.Storage != meta.GroupResource{Resource: "pods"} || subresource != "status"
		},
		Plugin: request.Plugin{
			Stage: request.MayBlock, Operations: request.OnCreate | request.OnUpdate, SkipsNoOps: true, Validator: ownerPermission{authorizer, kinds},
		},
	}
}

// ownerPermission needs the kinds, since an owner reference names a kind and a right is on a resource.
type ownerPermission struct {
	authorizer authz.Authorizer
	kinds      func(meta.GroupVersionKind) *schema.Kind
}

// Handles implements request.Validator. Most updates leave the owners as they are, and cost nothing here.
func (p ownerPermission) Handles(a *request.Attributes) bool {
	return !tree.SemanticEqual(a.Old.Object("metadata")["ownerReferences"], a.New.Object("metadata")["ownerReferences"])
}

// Validate implements request.Validator. A create sets owners of an object that is the requester's own, so only
// blocking needs a right then. The ", <nil>" in messages is what clients know.
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
	// Who may update all finalizers need not name a kind that is served.
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

// deleteAttributes ask for the right to delete the object itself: who may delete it may also leave that to the garbage
// collector, by giving it an owner.
func deleteAttributes(a *request.Attributes) authz.Attributes {
	return authz.Attributes{
		User: a.User, Verb: "delete", ResourceRequest: true,
		Group: a.Kind.Group, Version: a.Kind.Version, Resource: a.Kind.Resource, Subresource: a.Subresource,
		Namespace: a.Key.Namespace, Name: a.Key.Name,
	}
}

// checkFinalizers asks for the right on the finalizers of one owner. A kind that is not served cannot be
// mapped to a resource, so no right on it can be proved.
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
		finalizers.Namespace = a.Key.Namespace // where the owner of a namespaced object is
	}
	if ok, reason := p.allows(finalizers); !ok {
		return a.Forbidden(fmt.Sprintf("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: %s, <nil>", reason))
	}
	return nil
}

// allows counts no opinion as a refusal, as authorization of requests does.
func (p ownerPermission) allows(a authz.Attributes) (ok bool, reason string) {
	decision, reason := p.authorizer.Authorize(a)
	return decision == authz.Allow, reason
}

// newBlockingOwners are the owners whose deletion the object blocks, and did not before. Owners are
// compared by uid, since a name may be used again by another object.
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
