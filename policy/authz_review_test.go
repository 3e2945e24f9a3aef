package policy_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

func TestAccess(t *testing.T) {
	for _, c := range readCases[[]struct {
		Decision, Reason string
		Spec, Status     object
		Asked            authz.Attributes
	}](t, "authz/access") {
		r := authz.Reviewer{Authorizer: authorizerFunc(func(a authz.Attributes) (authz.Decision, string) {
			if !reflect.DeepEqual(a, c.Asked) {
				t.Errorf("asked %s\nwant  %s", toJSON(t, a), toJSON(t, c.Asked))
			}
			return decisions[c.Decision], c.Reason
		})}
		review, err := r.Access(&schema.Kind{Strategy: schema.DefaultStrategy{}}, tree.Tree{"spec": parseTree(t, string(c.Spec))})
		if err != nil {
			t.Fatal(err)
		}
		if got := toJSON(t, review["status"]); got != string(c.Status) {
			t.Errorf("got %s, want %s", got, c.Status)
		}
	}
}

type userRequired struct{ schema.DefaultStrategy }

func (userRequired) Validate(_, _ tree.Tree, faults *schema.Faults) { faults.Required("spec.user") }

func TestAccessWithoutUser(t *testing.T) {
	k := &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Group: "g", Kind: "K"}, Strategy: userRequired{}}
	r := authz.Reviewer{Authorizer: authz.AlwaysAllow{}}
	_, err := r.SelfAccess(k, tree.Tree{}, &authn.User{})
	if err == nil || !strings.HasPrefix(err.Error(), `K.g "" is invalid: spec.user`) {
		t.Errorf("got %v", err)
	}
}

func TestSelfRules(t *testing.T) {
	modes := map[string]authz.Authorizer{
		"masters": authz.Masters{}, "paths": authz.AlwaysAllowPaths{"/livez"}, "allow": authz.AlwaysAllow{}, "deny": authz.AlwaysDeny{},
		"webhook": &authz.Webhook{}, "unlisted": stubAuthorizer{},
	}
	for _, c := range readCases[[]struct {
		Modes []string
		User  authn.User
		Want  object
	}](t, "authz/rules") {
		var all []authz.Authorizer
		for _, name := range c.Modes {
			all = append(all, modes[name])
		}
		r := authz.Reviewer{Authorizer: all[0]}
		if len(all) > 1 {
			r.Authorizer = authz.Union(all...)
		}
		review, err := r.SelfRules(tree.Tree{"spec": tree.Tree{"namespace": "n"}}, &c.User)
		if err != nil {
			t.Fatal(err)
		}
		if got := toJSON(t, review["status"]); got != string(c.Want) {
			t.Errorf("got  %s\nwant %s", got, c.Want)
		}
	}
	if _, err := (&authz.Reviewer{Authorizer: authz.AlwaysAllow{}}).SelfRules(tree.Tree{}, jane); err == nil {
		t.Error("rules of no namespace")
	}
}
