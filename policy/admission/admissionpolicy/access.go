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

// resources are those of policies and bindings, in platform form: the first two of policies, the others of the bindings
// of these.
var resources = []string{
	group + "/validatingadmissionpolicies", group + "/mutatingadmissionpolicies",
	group + "/validatingadmissionpolicybindings", group + "/mutatingadmissionpolicybindings",
}

// access keeps users from reading, by a policy, objects that they may not read: who writes a policy must be
// allowed to read all objects of the kind of its parameters, who writes a binding those that it refers to.
// Otherwise a user could write a policy that takes a Secret for its parameters and shows it in the message
// of a refusal.
type access struct {
	*Options
	validating, mutating *Source
}

// registration is that of the check, which always runs.
func (x *access) registration() admission.Registration {
	r := admission.Registration{Resources: resources, Plugin: request.Plugin{Validator: x}}
	if x.AuthorizerWaits {
		r.Stage = request.MayBlock
	}
	return r
}

// Handles implements request.Validator.
func (x *access) Handles(a *request.Attributes) bool {
	spec := a.New.Object("spec")
	return spec.Has("paramKind") || spec.Has("paramRef")
}

// Validate implements request.Validator. Members of system:masters pass: they may read everything, and
// the server itself writes without a user.
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

// checkPolicy asks for the right to read all objects of the kind of the parameters. An unchanged kind was
// checked when it was written, maybe for somebody else; others may still edit the rest of the policy.
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

// narrow narrows a question about all resources to that of a kind, as far as it is known. What is not known
// stays "*", so the question is never narrower than what the policy will read.
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

// checkBinding asks for the right to read the objects of parameters. A binding may come before its policy
// or before the definition of its parameters; then the right on all resources is asked for. A selector
// reads many objects, hence list.
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

// definition is a policy by its name; nil if there is none.
func (s *Source) definition(name string) *definition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.definitions[name]
}

// describe is a user as faults name it. The form is that of a printed pointer to a struct, as clients know
// it.
func describe(u *authn.User) string {
	return fmt.Sprintf("&{%s %s %v %v}", u.Name, u.UID, u.Groups, u.Extra)
}

// forbidden refuses a policy or a binding because of one of its fields.
func forbidden(a *request.Attributes, path, text string) error {
	return meta.NewInvalid(meta.GroupKind{Group: a.Kind.Group, Kind: a.Kind.Kind}, a.Key.Name,
		[]meta.Cause{{Type: meta.CauseForbidden, Field: path, Message: "Forbidden: " + text}})
}
