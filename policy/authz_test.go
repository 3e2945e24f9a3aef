package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

type attributesCase struct {
	authz.Attributes
	Want, Reason string
}

func TestUnionOfMastersAndPaths(t *testing.T) {
	u := authz.Union(authz.Masters{}, authz.AlwaysAllowPaths{"/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*"})
	for _, c := range readCases[[]attributesCase](t, "authz/union") {
		if got, _ := u.Authorize(c.Attributes); got != decisions[c.Want] {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

type stubAuthorizer struct{ Decision, Reason string }

func (f stubAuthorizer) Authorize(authz.Attributes) (authz.Decision, string) {
	return decisions[f.Decision], f.Reason
}

func TestUnionOrder(t *testing.T) {
	for _, c := range readCases[[]struct {
		Modes []stubAuthorizer
		Want  stubAuthorizer
	}](t, "authz/order") {
		var modes []authz.Authorizer
		for _, mode := range c.Modes {
			modes = append(modes, mode)
		}
		if d, reason := authz.Union(modes...).Authorize(authz.Attributes{}); d != decisions[c.Want.Decision] || reason != c.Want.Reason {
			t.Errorf("%+v: got %d %q", c, d, reason)
		}
	}
}

func TestForbiddenMessage(t *testing.T) {
	for _, c := range readCases[[]attributesCase](t, "authz/forbidden") {
		if got := c.ForbiddenMessage(c.Reason); got != c.Want {
			t.Errorf("got  %s\nwant %s", got, c.Want)
		}
	}
}

func TestCoversPath(t *testing.T) {
	for _, c := range readCases[[]struct {
		Pattern, Path string
		Want          bool
	}](t, "authz/paths") {
		if got := authz.CoversPath(c.Pattern, c.Path); got != c.Want {
			t.Errorf("%+v: got %t", c, got)
		}
	}
}

func TestSelectorsField(t *testing.T) {
	for text, want := range readCases[map[string]*string](t, "authz/selectors") {
		value, ok := authz.ReadSelectors(text, "").Field("a")
		if ok != (want != nil) || ok && value != *want {
			t.Errorf("%q: got %q, %t", text, value, ok)
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
