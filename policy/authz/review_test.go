package authz_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// A recorder keeps what it was asked.
type recorder struct {
	fixed
	asked *authz.Attributes
}

func (r recorder) Authorize(a authz.Attributes) (authz.Decision, string) {
	*r.asked = a
	return r.d, r.reason
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAccess(t *testing.T) {
	attributes := schema.Tree{"namespace": "n", "verb": "get", "group": "g", "version": "v", "resource": "r", "subresource": "s", "name": "x"}
	for _, c := range []struct {
		decision     fixed
		spec         schema.Tree
		asked, where string
	}{
		{fixed{authz.Allow, "why"}, schema.Tree{"user": "u", "uid": "1", "groups": []any{"a", "b"}, "extra": schema.Tree{"k": []any{"v"}}, "resourceAttributes": attributes},
			`{"User":{"Name":"u","UID":"1","Groups":["a","b"],"Extra":{"k":["v"]}},"Verb":"get","ResourceRequest":true,"Group":"g","Version":"v","Resource":"r","Subresource":"s","Namespace":"n","Name":"x","Path":""}`,
			`{"allowed":true,"reason":"why"}`},
		{fixed{authz.Deny, ""}, schema.Tree{"user": "u", "nonResourceAttributes": schema.Tree{"path": "/p", "verb": "get"}},
			`{"User":{"Name":"u","UID":"","Groups":[],"Extra":null},"Verb":"get","ResourceRequest":false,"Group":"","Version":"","Resource":"","Subresource":"","Namespace":"","Name":"","Path":"/p"}`,
			`{"allowed":false,"denied":true}`},
		{fixed{authz.NoOpinion, ""}, schema.Tree{"user": "u", "resourceAttributes": schema.Tree{}}, "", `{"allowed":false}`},
	} {
		var asked authz.Attributes
		r := authz.Reviewer{Authorizer: recorder{c.decision, &asked}}
		review, err := r.Access(&schema.Kind{}, schema.Tree{"spec": c.spec})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, review["status"]); got != c.where {
			t.Errorf("got %s, want %s", got, c.where)
		}
		if got := text(t, asked); c.asked != "" && got != c.asked {
			t.Errorf("asked %s\nwant  %s", got, c.asked)
		}
	}
}

func TestAccessOfNobody(t *testing.T) {
	k := &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Group: "g", Kind: "K"}}
	k.Rules.Validate = func(_ schema.Tree, faults *schema.Faults) { faults.Required("spec.user") }
	r := authz.Reviewer{Authorizer: fixed{authz.Allow, ""}}
	_, err := r.OwnAccess(k, schema.Tree{}, &authn.User{})
	if err == nil || !strings.HasPrefix(err.Error(), `K.g "" is invalid: spec.user`) {
		t.Errorf("got %v", err)
	}
}

func TestPermissions(t *testing.T) {
	admin, jane := &authn.User{Name: "a", Groups: []string{"system:masters"}}, &authn.User{Name: "jane"}
	listed := authz.Union(authz.Masters{}, authz.Paths{"/livez"})
	for _, c := range []struct {
		mode authz.Authorizer
		user *authn.User
		want string
	}{
		{listed, jane, `{"incomplete":false,"nonResourceRules":[{"nonResourceURLs":["/livez"],"verbs":["get","head"]}],"resourceRules":[]}`},
		{listed, admin, `{"incomplete":false,"nonResourceRules":[{"nonResourceURLs":["*"],"verbs":["*"]},{"nonResourceURLs":["/livez"],"verbs":["get","head"]}],"resourceRules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`},
		{authz.Union(authz.Masters{}, fixed{}), jane, `{"incomplete":true,"nonResourceRules":[],"resourceRules":[]}`},
		{fixed{}, jane, `{"incomplete":true,"nonResourceRules":[],"resourceRules":[]}`},
	} {
		r := authz.Reviewer{Authorizer: c.mode}
		review, err := r.OwnRules(schema.Tree{"spec": schema.Tree{"namespace": "n"}}, c.user)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, review["status"]); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	r := authz.Reviewer{Authorizer: listed}
	if _, err := r.OwnRules(schema.Tree{}, jane); err == nil {
		t.Error("rules of no namespace")
	}
}
