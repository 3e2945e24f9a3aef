package rbac

import (
	"fmt"
	"maps"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
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
		Plugin:    escalation{a, verbs, objects},
	}
}

type escalation struct {
	*Authorizer
	verbs   authz.Authorizer
	objects policy.Objects
}

// Admit implements admission.Plugin.
func (e escalation) Admit(a *admission.Attempt) error {
	if a.New == nil || a.User != nil && a.User.InGroup(authn.GroupMasters) || forGarbage(a.Old, a.New) {
		return nil
	}
	if a.Kind.Resource == "rolebindings" || a.Kind.Resource == "clusterrolebindings" {
		return e.admitBinding(a)
	}
	return e.admitRole(a)
}

// everything is what one must hold to write a role that gathers the rules of others: whatever
// they are or become.
var everything = []rule{
	{verbs: []string{every}, groups: []string{every}, resources: []string{every}},
	{verbs: []string{every}, paths: []string{every}},
}

func (e escalation) admitRole(a *admission.Attempt) error {
	asked := authz.Attributes{
		User: a.User, Verb: "escalate", ResourceRequest: true,
		Group: a.Kind.Group, Version: every, Resource: a.Kind.Resource, Namespace: a.Key.Namespace, Name: a.Key.Name,
	}
	if a.Verb == request.Create {
		asked.Name = "" // the name is not in the request
	}
	if d, _ := e.verbs.Authorize(asked); d == authz.Allow {
		return nil
	}
	if err := e.confirm(a, newRules(a.New)); err != nil {
		return err
	}
	if (gathers(a.New) || gathers(a.Old)) && e.confirm(a, everything) != nil {
		return a.Forbidden("must have cluster-admin privileges to use the aggregationRule")
	}
	return nil
}

func gathers(role schema.Tree) bool {
	return len(rules.Items(rules.Sub(role, "aggregationRule"), "clusterRoleSelectors")) > 0
}

func (e escalation) admitBinding(a *admission.Attempt) error {
	ref := rules.Sub(a.New, "roleRef")
	kind, name := rules.Text(ref, "kind"), rules.Text(ref, "name")
	resource, namespace := "clusterroles", ""
	switch {
	case name == "":
		return nil // which is never valid
	case kind == "Role" && a.Key.Namespace != "":
		resource, namespace = "roles", a.Key.Namespace
	case kind != "ClusterRole":
		return nil // nor is this
	}
	d, _ := e.verbs.Authorize(authz.Attributes{
		User: a.User, Verb: "bind", ResourceRequest: true,
		Group: rules.Text(ref, "apiGroup"), Version: every, Resource: resource, Namespace: a.Key.Namespace, Name: name,
	})
	if d == authz.Allow {
		return nil
	}
	role := e.objects.Get(meta.GroupResource{Group: group, Resource: resource}, namespace, name)
	if role == nil {
		return meta.NewNotFound(meta.GroupResource{Group: e.group, Resource: singular(namespace)}, name)
	}
	return e.confirm(a, newRules(role.Tree))
}

// confirm refuses what the user does not hold.
func (e escalation) confirm(a *admission.Attempt, wanted []rule) error {
	user := a.User
	if user == nil {
		user = &authn.User{}
	}
	held, lacking := e.rules(user, a.Key.Namespace)
	lacks := missing(held, wanted)
	if len(lacks) == 0 {
		return nil
	}
	reason := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		user.Name, user.Groups, describe(lacks))
	if lacking != "" {
		reason += fmt.Sprintf("; resolution errors: [%s]", lacking)
	}
	return a.Forbidden(reason)
}

// forGarbage tells whether a change is of nothing but what the collection of garbage needs: the
// owners and the finalizers.
func forGarbage(old, wanted schema.Tree) bool {
	if old == nil {
		return false
	}
	return rules.Equal(bare(old), bare(wanted))
}

// bare is an object without what the collection of garbage needs, and without what a body may
// leave out.
func bare(obj schema.Tree) schema.Tree {
	left, metadata := maps.Clone(obj), maps.Clone(rules.Sub(obj, "metadata"))
	for _, name := range []string{"ownerReferences", "finalizers", "managedFields", "resourceVersion"} {
		delete(metadata, name)
	}
	delete(left, "kind")
	delete(left, "apiVersion")
	left["metadata"] = metadata
	return left
}
