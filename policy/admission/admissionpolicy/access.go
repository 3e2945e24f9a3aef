package admissionpolicy

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// resources lists the policy resources, then the binding resources, in the platform naming profile.
var resources = []string{
	group + "/validatingadmissionpolicies", group + "/mutatingadmissionpolicies",
	group + "/validatingadmissionpolicybindings", group + "/mutatingadmissionpolicybindings",
}

// access is the plugin that protects params. Without it, a policy could reveal a Secret in its
// denial message. Policy authors need read access to all objects of the param kind, and binding
// authors to the referenced objects.
type access struct {
	*Options
	validating, mutating *Source
}

func (x *access) registration() admission.Registration {
	r := admission.Registration{Resources: resources, Plugin: request.Plugin{Validator: x}}
	if x.AuthorizerWaits {
		r.Stage = request.MayBlock
	}
	return r
}

func (x *access) Handles(a *request.Attributes) bool {
	spec := a.New.Object("spec")
	return spec.Has("paramKind") || spec.Has("paramRef")
}

// Validate checks the user's access to the params of a policy or binding. It skips system:masters,
// which may read everything, and the server's own writes, which have no user.
func (x *access) Validate(a *request.Attributes) error {
	if a.User == nil || a.User.InGroup(authn.GroupMasters) {
		return nil
	}
	spec, old := a.New.Object("spec"), a.Old.Object("spec")
	switch a.Kind.Resource {
	case "validatingadmissionpolicies", "mutatingadmissionpolicies":
		return x.checkPolicy(a, spec, old)
	case "validatingadmissionpolicybindings":
		return x.checkBinding(a, x.validating, spec, old)
	}
	return x.checkBinding(a, x.mutating, spec, old)
}

// checkPolicy requires get on all objects of the param kind. It skips an unchanged param kind, so
// that other users can edit the rest of the policy.
func (x *access) checkPolicy(a *request.Attributes, spec, old tree.Tree) error {
	kind := spec.Object("paramKind")
	if kind == nil || tree.SemanticEqual(kind, old["paramKind"]) {
		return nil
	}
	asked := authz.Attributes{User: a.User, Verb: "get", ResourceRequest: true, Namespace: "*", Name: "*", Group: "*", Version: "*", Resource: "*"}
	x.narrow(&asked, kind)
	if d, _ := x.Authorizer.Authorize(asked); d == authz.Allow {
		return nil
	}
	return forbidden(a, "spec.paramKind", fmt.Sprintf(`user %s must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=%s)`,
		describe(a.User), kind.String("kind"), kind.String("apiVersion")))
}

// narrow sets the group, version and resource in asked to those of a param kind. For an unknown
// kind, they stay "*", so that the check covers everything that the policy may read.
func (x *access) narrow(asked *authz.Attributes, kind tree.Tree) (known bool) {
	g, v, err := splitAPIVersion(kind.String("apiVersion"))
	if err != nil {
		return false
	}
	asked.Group, asked.Version = g, v
	k := x.Params.kinds.ByGVK(meta.GroupVersionKind{Group: g, Version: v, Kind: kind.String("kind")})
	if k == nil {
		return false
	}
	asked.Resource = k.Resource
	return true
}

// checkBinding requires permission to get the referenced params, or to list them if the binding
// uses a selector. If the policy or its param kind does not exist yet, the user needs access to all
// resources.
func (x *access) checkBinding(a *request.Attributes, s *Source, spec, old tree.Tree) error {
	ref, name := spec.Object("paramRef"), spec.String("policyName")
	if ref == nil || tree.SemanticEqual(ref, old["paramRef"]) && name == old.String("policyName") {
		return nil
	}
	asked := authz.Attributes{
		User: a.User, Verb: "get", ResourceRequest: true, Namespace: ref.String("namespace"), Name: ref.String("name"), Group: "*", Version: "*", Resource: "*",
	}
	if asked.Name == "" {
		asked.Verb = "list"
	}
	by := s.definition(name)
	known := by != nil
	if by != nil && by.spec.Has("paramKind") {
		known = x.narrow(&asked, by.spec.Object("paramKind"))
	}
	if d, _ := x.Authorizer.Authorize(asked); d == authz.Allow {
		return nil
	}
	const rest = `to determine minimum required permissions and user %s does not have "%s" permission for all groups, versions and resources`
	text := fmt.Sprintf(`user %s does not have "%s" permission on the object referenced by paramRef`, describe(a.User), asked.Verb)
	switch {
	case by == nil:
		text = fmt.Sprintf("unable to get policy %s "+rest, name, describe(a.User), asked.Verb)
	case !known:
		kind := by.spec.Object("paramKind")
		text = fmt.Sprintf("unable to resolve paramKind &ParamKind{APIVersion:%s,Kind:%s,} "+rest, kind.String("apiVersion"), kind.String("kind"), describe(a.User), asked.Verb)
	}
	return forbidden(a, "spec.paramRef", text)
}

func (s *Source) definition(name string) *definition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.definitions[name]
}

// describe formats a user as in Kubernetes error messages, which print a struct pointer.
func describe(u *authn.User) string {
	return fmt.Sprintf("&{%s %s %v %v}", u.Name, u.UID, u.Groups, u.Extra)
}

func forbidden(a *request.Attributes, path, text string) error {
	return a.Invalid([]meta.Cause{{Type: meta.CauseForbidden, Field: path, Message: "Forbidden: " + text}})
}
