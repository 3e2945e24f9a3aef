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
		got, err := i.Impersonate(&authn.User{Name: "caller", Groups: []string{"own"}, UID: "own", Extra: map[string][]string{"own": nil}}, sent)
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
		got, err := i.Impersonate(&authn.User{Name: "caller"}, slices.Clone(c.Headers))
		if (got == nil) != (err != nil) || (err == nil) != (c.Fault == "") || err != nil && (!strings.HasPrefix(err.Error(), c.Fault) || meta.AsStatus(err).Code != 403) {
			t.Errorf("%q: got %v, %v\nwant %s", c.Headers, got, err, c.Fault)
		}
	}
}
