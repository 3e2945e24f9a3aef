package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

func TestUnionOfMastersAndPaths(t *testing.T) {
	admin := &authn.User{Name: "admin", Groups: []string{"system:masters"}}
	jane := &authn.User{Name: "jane", Groups: []string{"system:authenticated"}}
	tests := []struct {
		a    authz.Attributes
		want authz.Decision
	}{
		{authz.Attributes{User: admin, Verb: "delete", ResourceRequest: true, Resource: "secrets"}, authz.Allow},
		{authz.Attributes{User: admin, Verb: "post", Path: "/anything"}, authz.Allow},
		{authz.Attributes{User: jane, Verb: "get", ResourceRequest: true, Resource: "secrets"}, authz.NoOpinion},
		{authz.Attributes{User: jane, Verb: "get", ResourceRequest: true, Resource: "secrets", Path: "/livez"}, authz.NoOpinion},
		{authz.Attributes{User: jane, Verb: "get", Path: "/livez"}, authz.Allow},
		{authz.Attributes{User: jane, Verb: "head", Path: "/readyz/log"}, authz.Allow},
		{authz.Attributes{User: jane, Verb: "post", Path: "/livez"}, authz.NoOpinion},
		{authz.Attributes{User: jane, Verb: "get", Path: "/livezz"}, authz.NoOpinion},
		{authz.Attributes{User: jane, Verb: "get", Path: "/version"}, authz.NoOpinion},
		{authz.Attributes{User: jane, Verb: "get", Path: "/metrics"}, authz.NoOpinion},
		{authz.Attributes{Verb: "get", Path: "/healthz"}, authz.Allow},
		{authz.Attributes{Verb: "get", Path: "/api"}, authz.NoOpinion},
	}
	u := authz.Union(authz.Masters{}, authz.AlwaysAllowPaths{"/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*"})
	for _, test := range tests {
		if got, _ := u.Authorize(test.a); got != test.want {
			t.Errorf("%+v: got %d, want %d", test.a, got, test.want)
		}
	}
}

// A stubAuthorizer always returns the same decision.
type stubAuthorizer struct {
	decision authz.Decision
	reason   string
}

func (f stubAuthorizer) Authorize(authz.Attributes) (authz.Decision, string) {
	return f.decision, f.reason
}

func TestUnionOrder(t *testing.T) {
	tests := []struct {
		modes  []authz.Authorizer
		d      authz.Decision
		reason string
	}{
		{nil, authz.NoOpinion, ""},
		{[]authz.Authorizer{stubAuthorizer{authz.Deny, "no"}, stubAuthorizer{authz.Allow, ""}}, authz.Deny, "no"},
		{[]authz.Authorizer{stubAuthorizer{authz.NoOpinion, "a"}, stubAuthorizer{authz.Allow, "yes"}}, authz.Allow, "yes"},
		{[]authz.Authorizer{stubAuthorizer{authz.NoOpinion, "a"}, stubAuthorizer{}, stubAuthorizer{authz.NoOpinion, "b"}}, authz.NoOpinion, "a, b"},
		{[]authz.Authorizer{stubAuthorizer{authz.Failed, "a"}, stubAuthorizer{authz.NoOpinion, "b"}}, authz.Failed, "a, b"},
		{[]authz.Authorizer{stubAuthorizer{authz.Failed, "a"}, stubAuthorizer{authz.Allow, ""}}, authz.Allow, ""},
		{[]authz.Authorizer{stubAuthorizer{authz.Failed, "a"}, stubAuthorizer{authz.Deny, "b"}}, authz.Deny, "b"},
	}
	for i, test := range tests {
		if d, reason := authz.Union(test.modes...).Authorize(authz.Attributes{}); d != test.d || reason != test.reason {
			t.Errorf("%d: got %d %q, want %d %q", i, d, reason, test.d, test.reason)
		}
	}
}

func TestForbiddenMessage(t *testing.T) {
	jane := &authn.User{Name: "jane"}
	tests := []struct {
		a            authz.Attributes
		reason, want string
	}{
		{authz.Attributes{User: jane, Verb: "list", ResourceRequest: true, Version: "v1", Resource: "configmaps", Namespace: "x"}, "",
			`configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "x"`},
		{authz.Attributes{User: jane, Verb: "get", ResourceRequest: true, Resource: "configmaps", Namespace: "x", Name: "a"}, "",
			`configmaps "a" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "x"`},
		{authz.Attributes{User: jane, Verb: "update", ResourceRequest: true, Group: "apps", Resource: "deployments", Subresource: "scale", Namespace: "x", Name: "a"}, "why",
			`deployments.apps "a" is forbidden: User "jane" cannot update resource "deployments/scale" in API group "apps" in the namespace "x": why`},
		{authz.Attributes{User: jane, Verb: "list", ResourceRequest: true, Resource: "nodes"}, "",
			`nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope`},
		{authz.Attributes{User: &authn.User{Name: "a\n\"b"}, Verb: "get", Path: "/metrics"}, "",
			`forbidden: User "a\n\"b" cannot get path "/metrics"`},
	}
	for _, test := range tests {
		if got := test.a.ForbiddenMessage(test.reason); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func BenchmarkUnion(b *testing.B) {
	u := authz.Union(authz.Masters{}, authz.AlwaysAllowPaths{"/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*"}, authz.AlwaysDeny{}, authz.AlwaysAllow{})
	a := authz.Attributes{User: &authn.User{Name: "jane", Groups: []string{"a", "b", "c"}}, Verb: "get", ResourceRequest: true, Resource: "pods"}
	b.ReportAllocs()
	for b.Loop() {
		if d, _ := u.Authorize(a); d != authz.Allow {
			b.Fatal(d)
		}
	}
}
