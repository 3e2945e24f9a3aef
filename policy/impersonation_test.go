package policy_test

import (
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/impersonation"
)

// testHeaders holds headers in the form "name: value".
type testHeaders []string

func (l testHeaders) Values(string) []string { return nil }

func (l testHeaders) Remove(name string) {
	for i, line := range l {
		if before, _, _ := strings.Cut(line, ": "); strings.EqualFold(before, name) {
			l[i] = "Removed: "
		}
	}
}

func (l testHeaders) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, line := range l {
			if name, value, _ := strings.Cut(line, ": "); !yield(name, value) {
				return
			}
		}
	}
}

func TestImpersonate(t *testing.T) {
	i := impersonation.Impersonator{Authorizer: authz.AlwaysAllow{}, Naming: meta.Platform}
	for _, c := range readCases[[]struct {
		Headers testHeaders
		Want    *authn.User
		Fault   string
	}](t, "authz/impersonation") {
		sent := slices.Clone(c.Headers)
		got, _, err := i.Impersonate(authz.Attributes{User: &authn.User{Name: "caller", Groups: []string{"own"}, UID: "own", Extra: map[string][]string{"own": nil}}}, sent)
		if slices.ContainsFunc(sent, func(line string) bool { name, _, _ := strings.Cut(line, ":"); return impersonation.IsHeader(name) }) {
			t.Errorf("%q: %q is left", c.Headers, sent)
		}
		if !reflect.DeepEqual(got, c.Want) {
			t.Errorf("%q: got %+v", c.Headers, got)
		}
		if (err != nil) != (c.Fault != "") || err != nil && (!strings.Contains(err.Error(), c.Fault) || meta.AsStatus(err).Code != 400) {
			t.Errorf("%q: got %v", c.Headers, err)
		}
	}
}

func TestImpersonateNeedsPermission(t *testing.T) {
	for _, c := range readCases[[]struct {
		Headers testHeaders
		Rights  []string // permissions to impersonate, as "group/resource[/sub-resource] namespace/name"
		Fault   string
	}](t, "authz/impersonation-rights") {
		i := impersonation.Impersonator{Naming: meta.Platform, Authorizer: authorizerFunc(func(a authz.Attributes) (authz.Decision, string) {
			label := strings.TrimSuffix(a.Group+"/"+a.Resource+"/"+a.Subresource, "/") + " " + a.Namespace + "/" + a.Name
			if slices.Contains(c.Rights, label) && a.Verb == "impersonate" && a.User.Name == "caller" {
				return authz.Allow, ""
			}
			return authz.NoOpinion, "why"
		})}
		got, constraint, err := i.Impersonate(authz.Attributes{User: &authn.User{Name: "caller"}}, slices.Clone(c.Headers))
		if (got == nil) != (err != nil) || (err == nil) != (c.Fault == "") || err != nil && (!strings.HasPrefix(err.Error(), c.Fault) || meta.AsStatus(err).Code != 403) || constraint != "" {
			t.Errorf("%q: got %v, %v\nwant %s", c.Headers, got, err, c.Fault)
		}
	}
}

func TestConstrainedImpersonation(t *testing.T) {
	for _, c := range readCases[[]struct {
		Name       string
		Caller     *authn.User // the default is the user "caller"
		Headers    testHeaders
		Rights     []string // as "verb group/resource[/sub-resource] [namespace/]name"
		Asked      []string // if set, all authorization checks, in order
		Want       *authn.User
		Constraint string
		Fault      string // prefix of the error
	}](t, "authz/impersonation-constrained") {
		caller := c.Caller
		if caller == nil {
			caller = &authn.User{Name: "caller"}
		}
		var asked []string
		i := impersonation.Impersonator{Naming: meta.Platform, Constrained: true, Authorizer: authorizerFunc(func(a authz.Attributes) (authz.Decision, string) {
			label := a.Verb + " " + strings.TrimSuffix(a.Group+"/"+a.Resource+"/"+a.Subresource, "/") + " " + strings.TrimPrefix(a.Namespace+"/"+a.Name, "/")
			if strings.Contains(a.Verb, "associated-node") {
				if want := map[string][]string{"authentication.platform.io/associated-node-keys": {"authentication.platform.io/node-name", "b"}}; !reflect.DeepEqual(a.User.Extra, want) {
					t.Errorf("%s: the authorizer sees %v", c.Name, a.User.Extra)
				}
			}
			asked = append(asked, label)
			if slices.Contains(c.Rights, label) && a.User.Name == caller.Name {
				return authz.Allow, ""
			}
			return authz.NoOpinion, "why"
		})}
		got, constraint, err := i.Impersonate(authz.Attributes{
			User: caller, Verb: "list", ResourceRequest: true, Version: "v1", Resource: "pods", Namespace: "ns",
		}, slices.Clone(c.Headers))
		if !reflect.DeepEqual(got, c.Want) || constraint != c.Constraint || (err == nil) != (c.Fault == "") || err != nil && !strings.HasPrefix(err.Error(), c.Fault) {
			t.Errorf("%s: got %+v, %q, %v", c.Name, got, constraint, err)
		}
		if c.Asked != nil && !slices.Equal(asked, c.Asked) {
			t.Errorf("%s: asked %q\nwant %q", c.Name, asked, c.Asked)
		}
	}
}
