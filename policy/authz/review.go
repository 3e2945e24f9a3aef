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
	return r.access(k, review, authn.ReadUser(rules.Nested(review, "spec"), "user"))
}

// SelfAccess answers a SelfSubjectAccessReview, of kind k: what user may do.
func (r *Reviewer) SelfAccess(k *schema.Kind, review schema.Tree, user *authn.User) (schema.Tree, error) {
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
	decision, reason := r.Authorizer.Authorize(reviewAttributes(rules.Nested(review, "spec"), user))
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

// reviewAttributes is the question of a review, as one that user asks.
func reviewAttributes(spec schema.Tree, user *authn.User) Attributes {
	a := Attributes{User: user}
	if path, ok := spec["nonResourceAttributes"].(schema.Tree); ok {
		a.Verb, a.Path = rules.String(path, "verb"), rules.String(path, "path")
		return a
	}
	t := rules.Nested(spec, "resourceAttributes")
	a.ResourceRequest = true
	a.Verb, a.Namespace, a.Name = rules.String(t, "verb"), rules.String(t, "namespace"), rules.String(t, "name")
	a.Group, a.Version = rules.String(t, "group"), rules.String(t, "version")
	a.Resource, a.Subresource = rules.String(t, "resource"), rules.String(t, "subresource")
	a.Selectors = reviewSelectors(t)
	return a
}

// SelfRules answers a SelfSubjectRulesReview: all that user may do in a namespace, as far as
// the Authorizer can list it.
func (r *Reviewer) SelfRules(review schema.Tree, user *authn.User) (schema.Tree, error) {
	namespace := rules.String(rules.Nested(review, "spec"), "namespace")
	if namespace == "" {
		return nil, meta.NewBadRequest("no namespace on request")
	}
	resources, paths := []any{}, []any{}
	found := RuleSet{Incomplete: true}
	if lister, ok := r.Authorizer.(RuleResolver); ok {
		found = lister.RulesFor(user, namespace)
	}
	for _, rule := range found.ResourceRules {
		resources = append(resources, rule.tree())
	}
	for _, rule := range found.NonResourceRules {
		paths = append(paths, schema.Tree{"verbs": policy.ToAnySlice(rule.Verbs), "nonResourceURLs": policy.ToAnySlice(rule.Paths)})
	}
	status := schema.Tree{"resourceRules": resources, "nonResourceRules": paths, "incomplete": found.Incomplete}
	if found.EvaluationError != "" {
		status["evaluationError"] = found.EvaluationError
	}
	review["status"] = status
	return review, nil
}

func (r ResourceRule) tree() schema.Tree {
	t := schema.Tree{"verbs": policy.ToAnySlice(r.Verbs), "apiGroups": policy.ToAnySlice(r.Groups), "resources": policy.ToAnySlice(r.Resources)}
	if len(r.Names) > 0 {
		t["resourceNames"] = policy.ToAnySlice(r.Names)
	}
	return t
}
