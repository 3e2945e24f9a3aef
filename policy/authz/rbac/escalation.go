package rbac

import (
	"cmp"
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

// Escalation returns the admission plugin that prevents users from granting rights that they do not
// hold. It exempts members of system:masters, and users with the verb escalate on the role or bind
// on the bound role. verbs authorizes these two verbs and must not block. objects contains the
// bound roles.
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

// Handles reports whether a write needs a check. Deletes need none, because they only remove
// rights. The garbage collector, which does not hold the rules, may change owner references and
// finalizers.
func (e escalation) Handles(a *request.Attributes) bool {
	return a.New != nil && (a.User == nil || !a.User.InGroup(authn.GroupMasters)) && !onlyChangesGCFields(a.Old, a.New)
}

func (e escalation) Admit(a *request.Attributes) error {
	if a.Kind.Resource == "rolebindings" || a.Kind.Resource == "clusterrolebindings" {
		return e.admitBinding(a)
	}
	return e.admitRole(a)
}

// clusterAdminRules are required to write an aggregating role, which may aggregate any rules.
var clusterAdminRules = []rule{
	{verbs: []string{wildcard}, groups: []string{wildcard}, resources: []string{wildcard}},
	{verbs: []string{wildcard}, paths: []string{wildcard}},
}

// admitRole requires the user to hold the role's rules in the namespace, or cluster-wide for a
// ClusterRole. Setting or removing an aggregationRule requires a cluster admin, because it adds or
// removes arbitrary rules.
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

// admitBinding requires the user to hold the rules of the bound role, which must exist. Users with
// the verb bind on the role are exempt.
func (e escalation) admitBinding(a *request.Attributes) error {
	ref, ok := readRoleRef(a.New, a.Key.Namespace)
	if !ok || ref.name == "" {
		return nil // validation rejects the binding
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

// confirmNoEscalation rejects rules that the user does not hold. The error also lists roles that
// are bound to the user but do not exist, because they may explain the rejection.
func (e escalation) confirmNoEscalation(a *request.Attributes, wanted []rule) error {
	user := cmp.Or(a.User, &authn.User{})
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

func onlyChangesGCFields(old, wanted tree.Tree) bool {
	if old == nil {
		return false
	}
	return tree.SemanticEqual(withoutGCFields(old), withoutGCFields(wanted))
}

// withoutGCFields removes owner references, finalizers, and fields that a request body may omit.
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
