package authz

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

// A Reviewer completes access reviews with its Authorizer's decisions.
type Reviewer struct{ Authorizer Authorizer }

// Access completes a SubjectAccessReview or LocalSubjectAccessReview of kind k with the decision
// for the user in its spec. The error is a *meta.Status.
func (r *Reviewer) Access(k *schema.Kind, review tree.Tree) (tree.Tree, error) {
	return r.access(k, review, authn.ReadUser(review.Object("spec"), "user"))
}

// SelfAccess completes a SelfSubjectAccessReview of kind k with the decision for user.
func (r *Reviewer) SelfAccess(k *schema.Kind, review tree.Tree, user *authn.User) (tree.Tree, error) {
	return r.access(k, review, user)
}

func (r *Reviewer) access(k *schema.Kind, review tree.Tree, user *authn.User) (tree.Tree, error) {
	var faults schema.Faults
	rules.ValidateRules(k, review, nil, &faults)
	if len(faults.List) > 0 {
		return nil, meta.NewInvalid(k.GroupKind(), "", faults.List)
	}
	decision, reason := r.Authorizer.Authorize(reviewAttributes(review.Object("spec"), user))
	status := tree.Tree{"allowed": decision == Allow}
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

func reviewAttributes(spec tree.Tree, user *authn.User) Attributes {
	a := Attributes{User: user}
	if path, ok := spec["nonResourceAttributes"].(tree.Tree); ok {
		a.Verb, a.Path = path.String("verb"), path.String("path")
		return a
	}
	t := spec.Object("resourceAttributes")
	a.ResourceRequest = true
	a.Verb, a.Namespace, a.Name = t.String("verb"), t.String("namespace"), t.String("name")
	a.Group, a.Version = t.String("group"), t.String("version")
	a.Resource, a.Subresource = t.String("resource"), t.String("subresource")
	if a.Subresource == "" { // clients may ask for prometheuses/status, as roles name it
		a.Resource, a.Subresource, _ = strings.Cut(a.Resource, "/")
	}
	a.Selectors = reviewSelectors(t)
	return a
}

// SelfRules completes a SelfSubjectRulesReview with a user's rules in a namespace. The rules are
// incomplete if the Authorizer cannot list all of them.
func (r *Reviewer) SelfRules(review tree.Tree, user *authn.User) (tree.Tree, error) {
	namespace := review.Object("spec").String("namespace")
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
		paths = append(paths, tree.Tree{"verbs": tree.ListOf(rule.Verbs), "nonResourceURLs": tree.ListOf(rule.Paths)})
	}
	status := tree.Tree{"resourceRules": resources, "nonResourceRules": paths, "incomplete": found.Incomplete}
	if found.EvaluationError != "" {
		status["evaluationError"] = found.EvaluationError
	}
	review["status"] = status
	return review, nil
}

func (r ResourceRule) tree() tree.Tree {
	t := tree.Tree{"verbs": tree.ListOf(r.Verbs), "apiGroups": tree.ListOf(r.Groups), "resources": tree.ListOf(r.Resources)}
	if len(r.Names) > 0 {
		t["resourceNames"] = tree.ListOf(r.Names)
	}
	return t
}
