package rbac

import (
	"fmt"
	"maps"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// Escalation keeps users from handing out, by a role or a binding, what they do not hold
// themselves. It always runs. The verb escalate on a role allows to write any rules into it, the
// verb bind to bind it, and members of system:masters may do either. verbs is asked for them: it
// must not wait for anybody. objects shows the roles that bindings refer to.
func Escalation(a *Authorizer, verbs authz.Authorizer, objects policy.Objects) admission.Registration {
	return admission.Registration{
		Resources: []string{group + "/roles", group + "/clusterroles", group + "/rolebindings", group + "/clusterrolebindings"},
		Plugin:    request.Plugin{Mutator: escalation{a, verbs, objects}},
	}
}

type escalation struct {
	*Authorizer
	verbAuthorizer authz.Authorizer
	objects        policy.Objects
}

// Handles implements request.Mutator.
//
// Changes that only touch owners and finalizers pass, since the garbage collector makes them on objects whose
// rules it does not hold. A delete has no new object, and takes rights away.
func (e escalation) Handles(a *request.Attributes) bool {
	return a.New != nil && (a.User == nil || !a.User.InGroup(authn.GroupMasters)) && !onlyChangesGCFields(a.Old, a.New)
}

// Admit implements request.Mutator.
func (e escalation) Admit(a *request.Attributes) error {
	if a.Kind.Resource == "rolebindings" || a.Kind.Resource == "clusterrolebindings" {
		return e.admitBinding(a)
	}
	return e.admitRole(a)
}

// clusterAdminRules is what one must hold to write a role that gathers the rules of others: whatever
// they are or become.
var clusterAdminRules = []rule{
	{verbs: []string{wildcard}, groups: []string{wildcard}, resources: []string{wildcard}},
	{verbs: []string{wildcard}, paths: []string{wildcard}},
}

// The rules are compared with what the user holds in the same namespace, or in the cluster for a cluster role. The
// selectors of both the old and the new object count: who takes an aggregation away decides about rules just as who
// adds one.
func (e escalation) admitRole(a *request.Attributes) error {
	asked := authz.Attributes{
		User: a.User, Verb: "escalate", ResourceRequest: true,
		Group: a.Kind.Group, Version: wildcard, Resource: a.Kind.Resource, Namespace: a.Key.Namespace, Name: a.Key.Name,
	}
	if request.Is[request.Create](a.Mutation) {
		asked.Name = "" // the name is not in the request
	}
	if d, _ := e.verbAuthorizer.Authorize(asked); d == authz.Allow {
		return nil
	}
	if err := e.confirmNoEscalation(a, newRules(a.New)); err != nil {
		return err
	}
	if len(AggregationSelectors(a.New))+len(AggregationSelectors(a.Old)) > 0 && e.confirmNoEscalation(a, clusterAdminRules) != nil {
		return a.Forbidden("must have cluster-admin privileges to use the aggregationRule")
	}
	return nil
}

// The role must exist unless the user holds bind, as it is not known
// before what it will give.
func (e escalation) admitBinding(a *request.Attributes) error {
	ref, ok := readRoleRef(a.New, a.Key.Namespace)
	if !ok || ref.name == "" {
		return nil // validation refuses the binding
	}
	d, _ := e.verbAuthorizer.Authorize(authz.Attributes{
		User: a.User, Verb: "bind", ResourceRequest: true,
		Group: ref.group, Version: wildcard, Resource: ref.resource(), Namespace: a.Key.Namespace, Name: ref.name,
	})
	if d == authz.Allow {
		return nil
	}
	role := e.objects.Get(meta.GroupResource{Group: group, Resource: ref.resource()}, ref.namespace, ref.name)
	if role == nil {
		return meta.NewNotFound(meta.GroupResource{Group: e.group, Resource: roleResource(ref.namespace)}, ref.name)
	}
	return e.confirmNoEscalation(a, newRules(role.Tree))
}

// confirmNoEscalation refuses what the user does not hold.
//
// A user that is not known holds nothing. Roles that are missing are named, because one of them may be what the user
// thinks they hold.
func (e escalation) confirmNoEscalation(a *request.Attributes, wanted []rule) error {
	user := a.User
	if user == nil {
		user = &authn.User{}
	}
	held, lacking := e.heldRules(user, a.Key.Namespace)
	lacks := uncovered(held, wanted)
	if len(lacks) == 0 {
		return nil
	}
	reason := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		user.Name, user.Groups, describeRules(lacks))
	if lacking != "" {
		reason += fmt.Sprintf("; resolution errors: [%s]", lacking)
	}
	return a.Forbidden(reason)
}

// onlyChangesGCFields tells whether a change is of nothing but what the collection of garbage needs: the
// owners and the finalizers.
func onlyChangesGCFields(old, wanted tree.Tree) bool {
	if old == nil {
		return false
	}
	return tree.SemanticEqual(withoutGCFields(old), withoutGCFields(wanted))
}

// withoutGCFields is an object without what the collection of garbage needs, and without what a body may
// leave out.
func withoutGCFields(obj tree.Tree) tree.Tree {
	left, metadata := maps.Clone(obj), maps.Clone(obj.Object("metadata"))
	for _, name := range []string{"ownerReferences", "finalizers", "managedFields", "resourceVersion"} {
		delete(metadata, name)
	}
	delete(left, "kind")
	delete(left, "apiVersion")
	left["metadata"] = metadata
	return left
}
