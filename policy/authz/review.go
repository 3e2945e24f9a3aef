package authz

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
)

// A Reviewer tells clients what the Authorizer would decide.
type Reviewer struct{ Authorizer Authorizer }

// Access answers a SubjectAccessReview or a LocalSubjectAccessReview, of kind k: what the
// user of its spec may do. The error is a *meta.Status.
func (r *Reviewer) Access(k *schema.Kind, review schema.Tree) (schema.Tree, error) {
	return r.access(k, review, authn.ReadUser(rules.Sub(review, "spec"), "user"))
}

// OwnAccess answers a SelfSubjectAccessReview, of kind k: what user may do.
func (r *Reviewer) OwnAccess(k *schema.Kind, review schema.Tree, user *authn.User) (schema.Tree, error) {
	return r.access(k, review, user)
}

func (r *Reviewer) access(k *schema.Kind, review schema.Tree, user *authn.User) (schema.Tree, error) {
	var faults schema.Faults
	if k.Rules.Validate != nil {
		k.Rules.Validate(review, &faults)
	}
	if len(faults.List) > 0 {
		return nil, meta.NewInvalid(meta.GroupKind{Group: k.Group, Kind: k.Kind}, "", faults.List)
	}
	decision, reason := r.Authorizer.Authorize(asked(rules.Sub(review, "spec"), user))
	status := schema.Tree{"allowed": decision == Allow}
	if decision == Deny {
		status["denied"] = true
	}
	switch {
	case decision == Failed:
		status["evaluationError"] = reason
	case reason != "":
		status["reason"] = reason
	}
	review["status"] = status
	return review, nil
}

// asked is the question of a review, as one that user asks.
func asked(spec schema.Tree, user *authn.User) Attributes {
	a := Attributes{User: user}
	if path, ok := spec["nonResourceAttributes"].(schema.Tree); ok {
		a.Verb, a.Path = rules.Text(path, "verb"), rules.Text(path, "path")
		return a
	}
	t := rules.Sub(spec, "resourceAttributes")
	a.ResourceRequest = true
	a.Verb, a.Namespace, a.Name = rules.Text(t, "verb"), rules.Text(t, "namespace"), rules.Text(t, "name")
	a.Group, a.Version = rules.Text(t, "group"), rules.Text(t, "version")
	a.Resource, a.Subresource = rules.Text(t, "resource"), rules.Text(t, "subresource")
	a.Selectors = askedSelectors(t)
	return a
}

// OwnRules answers a SelfSubjectRulesReview: all that user may do in a namespace, as far as
// the Authorizer can list it.
func (r *Reviewer) OwnRules(review schema.Tree, user *authn.User) (schema.Tree, error) {
	namespace := rules.Text(rules.Sub(review, "spec"), "namespace")
	if namespace == "" {
		return nil, meta.NewBadRequest("no namespace on request")
	}
	resources, paths := []any{}, []any{}
	found := Permissions{Incomplete: true}
	if lister, ok := r.Authorizer.(Lister); ok {
		found = lister.Permissions(user, namespace)
	}
	for _, rule := range found.Resources {
		resources = append(resources, rule.tree())
	}
	for _, rule := range found.Paths {
		paths = append(paths, schema.Tree{"verbs": policy.Items(rule.Verbs), "nonResourceURLs": policy.Items(rule.Paths)})
	}
	status := schema.Tree{"resourceRules": resources, "nonResourceRules": paths, "incomplete": found.Incomplete}
	if found.Fault != "" {
		status["evaluationError"] = found.Fault
	}
	review["status"] = status
	return review, nil
}

func (r ResourceRule) tree() schema.Tree {
	t := schema.Tree{"verbs": policy.Items(r.Verbs), "apiGroups": policy.Items(r.Groups), "resources": policy.Items(r.Resources)}
	if len(r.Names) > 0 {
		t["resourceNames"] = policy.Items(r.Names)
	}
	return t
}
