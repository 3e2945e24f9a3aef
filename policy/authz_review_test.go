package policy_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// An authzRecorder records its last attributes.
type authzRecorder struct {
	stubAuthorizer
	attributes *authz.Attributes
}

func (r authzRecorder) Authorize(a authz.Attributes) (authz.Decision, string) {
	*r.attributes = a
	return r.decision, r.reason
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAccess(t *testing.T) {
	attributes := tree.Tree{"namespace": "n", "verb": "get", "group": "g", "version": "v", "resource": "r", "subresource": "s", "name": "x"}
	selected := tree.Tree{"verb": "list", "resource": "r",
		"fieldSelector": tree.Tree{"requirements": []any{tree.Tree{"key": "f", "operator": "In", "values": []any{"1"}}, tree.Tree{"key": "g", "operator": "In", "values": []any{"1", "2"}}}},
		"labelSelector": tree.Tree{"rawSelector": "a!=b"},
	}
	for _, c := range []struct {
		decision stubAuthorizer
		spec     tree.Tree
		asked    authz.Attributes
		where    string
	}{
		{stubAuthorizer{authz.Allow, "why"}, tree.Tree{"user": "u", "uid": "1", "groups": []any{"a", "b"}, "extra": tree.Tree{"k": []any{"v"}}, "resourceAttributes": attributes},
			authz.Attributes{User: &authn.User{Name: "u", UID: "1", Groups: []string{"a", "b"}, Extra: map[string][]string{"k": {"v"}}}, Verb: "get", ResourceRequest: true,
				Group: "g", Version: "v", Resource: "r", Subresource: "s", Namespace: "n", Name: "x"},
			`{"allowed":true,"reason":"why"}`},
		{stubAuthorizer{authz.Deny, ""}, tree.Tree{"user": "u", "nonResourceAttributes": tree.Tree{"path": "/p", "verb": "get"}},
			authz.Attributes{User: &authn.User{Name: "u", Groups: []string{}}, Verb: "get", Path: "/p"},
			`{"allowed":false,"denied":true}`},
		{stubAuthorizer{authz.Failed, "dead"}, tree.Tree{"user": "u", "resourceAttributes": selected},
			authz.Attributes{User: &authn.User{Name: "u", Groups: []string{}}, Verb: "list", ResourceRequest: true, Resource: "r", Selectors: &authz.Selectors{
				Fields: []selector.Requirement{{Key: "f", Operator: "In", Values: []string{"1"}}},
				Labels: []selector.Requirement{{Key: "a", Operator: "NotIn", Values: []string{"b"}}},
			}},
			`{"allowed":false,"evaluationError":"dead"}`},
		{stubAuthorizer{authz.NoOpinion, ""}, tree.Tree{"user": "u", "resourceAttributes": tree.Tree{"fieldSelector": tree.Tree{"rawSelector": "bad"}}},
			authz.Attributes{User: &authn.User{Name: "u", Groups: []string{}}, ResourceRequest: true}, `{"allowed":false}`},
	} {
		var asked authz.Attributes
		r := authz.Reviewer{Authorizer: authzRecorder{c.decision, &asked}}
		review, err := r.Access(&schema.Kind{Strategy: schema.DefaultStrategy{}}, tree.Tree{"spec": c.spec})
		if err != nil {
			t.Fatal(err)
		}
		if got := toJSON(t, review["status"]); got != c.where {
			t.Errorf("got %s, want %s", got, c.where)
		}
		if !reflect.DeepEqual(asked, c.asked) {
			t.Errorf("asked %s\nwant  %s", toJSON(t, asked), toJSON(t, c.asked))
		}
	}
}

// userRequired is the strategy of a review that requires a user.
type userRequired struct{ schema.DefaultStrategy }

func (userRequired) Validate(_, _ tree.Tree, faults *schema.Faults) { faults.Required("spec.user") }

func TestAccessWithoutUser(t *testing.T) {
	k := &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Group: "g", Kind: "K"}, Strategy: userRequired{}}
	r := authz.Reviewer{Authorizer: stubAuthorizer{authz.Allow, ""}}
	_, err := r.SelfAccess(k, tree.Tree{}, &authn.User{})
	if err == nil || !strings.HasPrefix(err.Error(), `K.g "" is invalid: spec.user`) {
		t.Errorf("got %v", err)
	}
}

func TestSelfRules(t *testing.T) {
	admin, jane := &authn.User{Name: "a", Groups: []string{"system:masters"}}, &authn.User{Name: "jane"}
	listed := authz.Union(authz.Masters{}, authz.AlwaysAllowPaths{"/livez"})
	for _, c := range []struct {
		mode authz.Authorizer
		user *authn.User
		want string
	}{
		{listed, jane, `{"incomplete":false,"nonResourceRules":[{"nonResourceURLs":["/livez"],"verbs":["get","head"]}],"resourceRules":[]}`},
		{listed, admin, `{"incomplete":false,"nonResourceRules":[{"nonResourceURLs":["*"],"verbs":["*"]},{"nonResourceURLs":["/livez"],"verbs":["get","head"]}],"resourceRules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`},
		{authz.Union(authz.Masters{}, authz.AlwaysAllow{}, authz.Masters{}), admin, `{"incomplete":false,"nonResourceRules":[{"nonResourceURLs":["*"],"verbs":["*"]}],"resourceRules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`},
		{authz.Union(&authz.Webhook{}, authz.AlwaysDeny{}), jane, `{"evaluationError":"webhook authorizer does not support user rule resolution","incomplete":true,"nonResourceRules":[],"resourceRules":[]}`},
		{authz.Union(&authz.Webhook{}, &authz.Webhook{}), jane, `{"evaluationError":"[webhook authorizer does not support user rule resolution, webhook authorizer does not support user rule resolution]","incomplete":true,"nonResourceRules":[],"resourceRules":[]}`},
		{authz.Union(authz.Masters{}, stubAuthorizer{}), jane, `{"incomplete":true,"nonResourceRules":[],"resourceRules":[]}`},
		{stubAuthorizer{}, jane, `{"incomplete":true,"nonResourceRules":[],"resourceRules":[]}`},
	} {
		r := authz.Reviewer{Authorizer: c.mode}
		review, err := r.SelfRules(tree.Tree{"spec": tree.Tree{"namespace": "n"}}, c.user)
		if err != nil {
			t.Fatal(err)
		}
		if got := toJSON(t, review["status"]); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	r := authz.Reviewer{Authorizer: listed}
	if _, err := r.SelfRules(tree.Tree{}, jane); err == nil {
		t.Error("rules of no namespace")
	}
}
