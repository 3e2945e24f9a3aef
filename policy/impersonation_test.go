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

// testHeaders holds headers as "name: value".
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

// allowedResources allows "group/resource[/sub-resource] namespace/name".
type allowedResources []string

func (r allowedResources) Authorize(a authz.Attributes) (authz.Decision, string) {
	what := a.Group + "/" + a.Resource
	if a.Subresource != "" {
		what += "/" + a.Subresource
	}
	what += " " + a.Namespace + "/" + a.Name
	for _, right := range r {
		if (right == what || right == "*") && a.Verb == "impersonate" && a.User.Name == "caller" {
			return authz.Allow, ""
		}
	}
	return authz.NoOpinion, "why"
}

const (
	authenticatedGroup   = "system:authenticated"
	unauthenticatedGroup = "system:unauthenticated"
)

func TestImpersonate(t *testing.T) {
	for _, c := range []struct {
		headers testHeaders
		want    *authn.User
		fault   string
	}{
		{testHeaders{"Accept: x", "Impersonate: a", "Impersonate-Extra: a", "Impersonate-Users: a"}, nil, ""},
		{testHeaders{"Impersonate-User: jane"}, &authn.User{Name: "jane", Groups: []string{authenticatedGroup}}, ""},
		{testHeaders{"iMPERSONATE-uSER: jane", "impersonate-group: b", "IMPERSONATE-GROUP: a"}, &authn.User{Name: "jane", Groups: []string{"b", "a", authenticatedGroup}}, ""},
		{testHeaders{"Impersonate-User: jane", "Impersonate-Group: " + unauthenticatedGroup}, &authn.User{Name: "jane", Groups: []string{unauthenticatedGroup}}, ""},
		{testHeaders{"Impersonate-User: jane", "Impersonate-Group: " + authenticatedGroup}, &authn.User{Name: "jane", Groups: []string{authenticatedGroup}}, ""},
		{testHeaders{"Impersonate-User: system:anonymous"}, &authn.User{Name: "system:anonymous", Groups: []string{unauthenticatedGroup}}, ""},
		{testHeaders{"Impersonate-User: system:anonymous", "Impersonate-Group: " + unauthenticatedGroup}, &authn.User{Name: "system:anonymous", Groups: []string{unauthenticatedGroup}}, ""},
		{testHeaders{"Impersonate-User: system:serviceaccount:ns:x"}, &authn.User{Name: "system:serviceaccount:ns:x", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ns", authenticatedGroup}}, ""},
		{testHeaders{"Impersonate-User: system:serviceaccount:ns:x", "Impersonate-Group: g"}, &authn.User{Name: "system:serviceaccount:ns:x", Groups: []string{"g", authenticatedGroup}}, ""},
		{testHeaders{"Impersonate-User: system:serviceaccount:NS:x"}, &authn.User{Name: "system:serviceaccount:NS:x", Groups: []string{authenticatedGroup}}, ""},
		{testHeaders{"Impersonate-User: jane", "Impersonate-Uid: u1", "Impersonate-Extra-Dept%2Fx: a", "impersonate-extra-dept%2fX: b", "Impersonate-Extra-100%: c"},
			&authn.User{Name: "jane", UID: "u1", Groups: []string{authenticatedGroup}, Extra: map[string][]string{"dept/x": {"a", "b"}, "100%": {"c"}}}, ""},
		{testHeaders{"Impersonate-Group: g"}, nil, "requested [{Group  g    }] without impersonating a user"},
		{testHeaders{"Impersonate-Uid: u", "Impersonate-Extra-A: b"}, nil, "requested [{UserExtra  b  authentication.platform.io/v1  a} {UID  u  authentication.platform.io/v1  }] without impersonating a user"},
		{testHeaders{"Impersonate-User: "}, nil, "requested [{User      }] without impersonating a user"},
		{testHeaders{"Impersonate-User: ", "Impersonate-User: jane"}, nil, "requested [{User      } {User  jane    }] without impersonating a user"},
		{testHeaders{"Impersonate-User: a", "Impersonate-User: b"}, nil, "requested [{User  a    } {User  b    }]: more than one user or uid"},
		{testHeaders{"Impersonate-User: a", "Impersonate-Uid: b", "impersonate-uid: c"}, nil, "more than one user or uid"},
	} {
		i := impersonation.Impersonator{Authorizer: allowedResources{"*"}, Naming: meta.Platform}
		sent := slices.Clone(c.headers)
		got, err := i.Impersonate(&authn.User{Name: "caller", Groups: []string{"own"}, UID: "own", Extra: map[string][]string{"own": nil}}, sent)
		if slices.ContainsFunc(sent, func(line string) bool { name, _, _ := strings.Cut(line, ":"); return impersonation.IsHeader(name) }) {
			t.Errorf("%q: %q is left", c.headers, sent)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %+v", c.headers, got)
		}
		if (err != nil) != (c.fault != "") || err != nil && (!strings.Contains(err.Error(), c.fault) || meta.AsStatus(err).Code != 400) {
			t.Errorf("%q: got %v", c.headers, err)
		}
	}
}

func TestImpersonateNeedsPermission(t *testing.T) {
	all := testHeaders{"Impersonate-User: jane", "Impersonate-Group: g", "Impersonate-Extra-Dept: eng", "Impersonate-Uid: u"}
	account := testHeaders{"Impersonate-User: system:serviceaccount:ns:x"}
	held := allowedResources{"/users /jane", "/groups /g", "authentication.platform.io/userextras/dept /eng", "authentication.platform.io/uids /u"}
	without := func(i int) allowedResources { return append(append(allowedResources{}, held[:i]...), held[i+1:]...) }
	cannot := `forbidden: User "caller" cannot impersonate resource `
	for _, c := range []struct {
		headers testHeaders
		rights  allowedResources
		fault   string
	}{
		{all, held, ""},
		{all, without(0), `users "jane" is ` + cannot + `"users" in API group "" at the cluster scope: why`},
		{all, without(1), `groups "g" is ` + cannot + `"groups" in API group "" at the cluster scope: why`},
		{all, without(2), `userextras.authentication.platform.io "eng" is ` + cannot + `"userextras/dept" in API group "authentication.platform.io" at the cluster scope: why`},
		{all, without(3), `uids.authentication.platform.io "u" is ` + cannot + `"uids" in API group "authentication.platform.io" at the cluster scope: why`},
		{append(testHeaders{"Impersonate-Group: system:masters"}, all...), held, `groups "system:masters" is ` + cannot},
		{append(testHeaders{"Impersonate-Extra-Dept: top"}, all...), held, `userextras.authentication.platform.io "top" is ` + cannot},
		{account, allowedResources{"/serviceaccounts ns/x"}, ""},
		{account, allowedResources{"/serviceaccounts other/x", "/users /system:serviceaccount:ns:x"}, `serviceaccounts "x" is ` + cannot + `"serviceaccounts" in API group "" in the namespace "ns": why`},
	} {
		i := impersonation.Impersonator{Authorizer: c.rights, Naming: meta.Platform}
		got, err := i.Impersonate(&authn.User{Name: "caller"}, slices.Clone(c.headers))
		switch {
		case c.fault == "":
			if got == nil || err != nil {
				t.Errorf("%q: got %v, %v", c.headers, got, err)
			}
		case got != nil || err == nil || !strings.HasPrefix(err.Error(), c.fault) || meta.AsStatus(err).Code != 403:
			t.Errorf("%q: got %v, %v\nwant %s", c.headers, got, err, c.fault)
		}
	}
}
