package policy_test

import (
	"reflect"
	"testing"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/policy/admission/review"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// asked records attributes; it allows resource "yes" and fails for "fails".
type asked []authz.Attributes

func (q *asked) Authorize(a authz.Attributes) (authz.Decision, string) {
	*q = append(*q, a)
	switch a.Resource {
	case "yes":
		return authz.Allow, "a role"
	case "fails":
		return authz.Failed, "dead"
	}
	return authz.NoOpinion, "no role"
}

// TestAuthorizer tests that an Authorizer passes on all attributes, distinguishes failures from
// denials, and caches decisions.
func TestAuthorizer(t *testing.T) {
	jane := &authn.User{Name: "jane", Groups: []string{"dev"}}
	fields := []selector.Requirement{{Key: "spec.nodeName", Operator: "In", Values: []string{"n"}}}
	labels := []selector.Requirement{{Key: "a", Operator: "Exists"}}
	for _, c := range []struct {
		access  cel.Access
		account bool // for a service account instead of the user
		want    authz.Attributes
		allowed bool
		reason  string
		err     string
	}{
		{cel.Access{Verb: "list", Resource: "yes", Namespace: "x", Fields: fields, Labels: labels}, false,
			authz.Attributes{User: jane, Verb: "list", ResourceRequest: true, Version: "*", Resource: "yes", Namespace: "x", Selectors: &authz.Selectors{Fields: fields, Labels: labels}},
			true, "a role", ""},
		{cel.Access{Verb: "get", Group: "g", Resource: "no", Subresource: "s", Name: "n"}, false,
			authz.Attributes{User: jane, Verb: "get", ResourceRequest: true, Group: "g", Version: "*", Resource: "no", Subresource: "s", Name: "n"}, false, "no role", ""},
		{cel.Access{Verb: "get", Resource: "fails"}, false,
			authz.Attributes{User: jane, Verb: "get", ResourceRequest: true, Version: "*", Resource: "fails"}, false, "", "dead"},
		{cel.Access{Verb: "get", Path: "/healthz"}, true,
			authz.Attributes{User: &authn.User{Name: "system:serviceaccount:ns:sa", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ns"}}, Verb: "get", Path: "/healthz"},
			false, "no role", ""},
	} {
		var questions asked
		var by cel.Authorizer = review.NewAuthorizer(jane, &questions)
		if c.account {
			by = by.ServiceAccount("ns", "sa")
		}
		for range 2 {
			allowed, reason, err := by.Authorize(t.Context(), c.access)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if allowed != c.allowed || reason != c.reason || text != c.err {
				t.Errorf("%+v: %t, %q, %q", c.access, allowed, reason, text)
			}
		}
		if !reflect.DeepEqual([]authz.Attributes(questions), []authz.Attributes{c.want}) {
			t.Errorf("%+v: asked %+v", c.access, questions)
		}
	}
}
