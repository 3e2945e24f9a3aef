package policy_test

import (
	"reflect"
	"testing"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/policy/admission/review"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

func TestAuthorizer(t *testing.T) {
	for _, c := range readCases[[]struct {
		Access      cel.Access
		Account     bool // the user is a service account
		Want        authz.Attributes
		Allowed     bool
		Reason, Err string
	}](t, "authz/review") {
		var asked []authz.Attributes
		var by cel.Authorizer = review.NewAuthorizer(&authn.User{Name: "jane", Groups: []string{"dev"}}, authorizerFunc(func(a authz.Attributes) (authz.Decision, string) {
			asked = append(asked, a)
			switch a.Resource {
			case "yes":
				return authz.Allow, "a role"
			case "fails":
				return authz.Failed, "dead"
			}
			return authz.NoOpinion, "no role"
		}))
		if c.Account {
			by = by.ServiceAccount("ns", "sa")
		}
		for range 2 {
			allowed, reason, err := by.Authorize(t.Context(), c.Access)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if allowed != c.Allowed || reason != c.Reason || text != c.Err {
				t.Errorf("%+v: %t, %q, %q", c.Access, allowed, reason, text)
			}
		}
		if !reflect.DeepEqual(asked, []authz.Attributes{c.Want}) {
			t.Errorf("%+v: asked %+v", c.Access, asked)
		}
	}
}
