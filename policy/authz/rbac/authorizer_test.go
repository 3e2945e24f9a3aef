package rbac_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/policy/authz"
)

func TestRules(t *testing.T) {
	for _, test := range readCases[struct{ Rules, Allowed, Refused []string }](t, "rules") {
		c := newFakeCluster()
		c.set(t, "clusterroles/r", role(test.Rules...))
		c.set(t, "clusterrolebindings/b", binding("ClusterRole/r", "User:jane"))
		a := c.authorizer(t)
		for want, requests := range map[bool][]string{true: test.Allowed, false: test.Refused} {
			for _, text := range requests {
				if isAllowed(a, "jane", text) != want {
					t.Errorf("%q: %q is %v", test.Rules, text, !want)
				}
			}
		}
	}
}

func TestSubjects(t *testing.T) {
	const account = "system:serviceaccount:ns:robot system:serviceaccounts system:serviceaccounts:ns system:authenticated"
	tests := []struct {
		subject  string
		yes, not []string
	}{
		{"User:jane", []string{"jane", "jane other"}, []string{"joe", "joe jane"}},
		{"Group:dev", []string{"jane dev", "joe x dev"}, []string{"dev", "jane devs"}},
		{"ServiceAccount:ns/robot", []string{account, "system:serviceaccount:ns:robot"}, []string{"robot", "system:serviceaccount:other:robot"}},
		{"ServiceAccount:/robot", []string{account}, []string{"system:serviceaccount:other:robot"}},
		{"User:system:serviceaccount:ns:robot", []string{account}, nil},
		{"Group:system:serviceaccounts:ns", []string{account}, []string{"jane"}},
		{"Robot:jane", nil, nil},
	}
	for _, test := range tests {
		c := newFakeCluster()
		c.set(t, "roles/ns/r", role("get core pods"))
		c.set(t, "rolebindings/ns/b", binding("Role/r", test.subject))
		a := c.authorizer(t)
		for _, caller := range test.yes {
			if !isAllowed(a, caller, "get core pods ns p") {
				t.Errorf("%s does not match %s", test.subject, caller)
			}
			for _, other := range []string{"get core pods other p", "get core pods - p", "get core pods"} {
				if isAllowed(a, caller, other) {
					t.Errorf("%s: %s is allowed for %s", test.subject, other, caller)
				}
			}
		}
		for _, caller := range test.not {
			if isAllowed(a, caller, "get core pods ns p") {
				t.Errorf("%s matches %s", test.subject, caller)
			}
		}
	}
}

// TestInvalidBindings checks that invalid bindings grant nothing. Validation normally keeps them
// from being stored.
func TestInvalidBindings(t *testing.T) {
	c := newFakeCluster()
	c.set(t, "clusterroles/r", role("get core pods"))
	c.set(t, "clusterrolebindings/a", binding("Role/r", "User:jane"))
	c.set(t, "clusterrolebindings/b", binding("Robot/r", "User:jane"))
	c.set(t, "clusterrolebindings/c", binding("ClusterRole/r", "ServiceAccount:/jane"))
	c.set(t, "rolebindings/ns/d", binding("Robot/r", "User:jane"))
	c.set(t, "rolebindings/ns/e", `{}`)
	a := c.authorizer(t)
	for _, caller := range []string{"jane", "system:serviceaccount::jane", "system:serviceaccount:ns:jane"} {
		if isAllowed(a, caller, "get core pods ns p") || isAllowed(a, caller, "get core pods") {
			t.Errorf("%s is allowed", caller)
		}
	}
}

// TestManySubjects checks a binding with as many subjects as fit into a request body. Duplicate
// subjects must become one grant.
func TestManySubjects(t *testing.T) {
	var subjects []string
	for n := range 200_000 {
		subjects = append(subjects, fmt.Sprintf("User:u%d", n%199_999))
	}
	c := newFakeCluster()
	c.set(t, "clusterroles/r", role("get core pods"))
	c.set(t, "clusterrolebindings/b", binding("ClusterRole/r", subjects...))
	a := c.authorizer(t)
	if !isAllowed(a, "u0", "get core pods ns p") || !isAllowed(a, "u199998", "get core pods ns p") || isAllowed(a, "u199999", "get core pods ns p") {
		t.Error("the subjects are not those that are bound")
	}
	if n := len(a.RulesFor(user("u0"), "ns").ResourceRules); n != 1 {
		t.Errorf("u0 has the rule %d times", n)
	}
}

func TestReasons(t *testing.T) {
	c := newFakeCluster()
	c.set(t, "clusterroles/y", role("get core pods", "get /x"))
	c.set(t, "roles/ns/y", role("list core pods"))
	c.set(t, "clusterrolebindings/x", binding("ClusterRole/y", "User:z", "ServiceAccount:ns/s"))
	c.set(t, "rolebindings/ns/x", binding("Role/y", "Group:g", "ServiceAccount:/s"))
	c.set(t, "rolebindings/ns/w", binding("ClusterRole/y", "User:w"))
	c.set(t, "clusterrolebindings/lost", binding("ClusterRole/none", "User:lost", "Group:g"))
	c.set(t, "rolebindings/ns/lost", binding("Role/none", "User:lost"))
	c.set(t, "rolebindings/ns/lost2", binding("Role/none", "User:lost"))
	a := c.authorizer(t)
	for _, test := range readCases[struct {
		Who, Asked string
		Allowed    bool
		Reason     string
	}](t, "reasons") {
		want := map[bool]authz.Decision{true: authz.Allow, false: authz.NoOpinion}[test.Allowed]
		if d, reason := a.Authorize(parseAttributes(test.Who, test.Asked)); d != want || reason != test.Reason {
			t.Errorf("%+v: got %d %q", test, d, reason)
		}
	}
	if d, reason := a.Authorize(authz.Attributes{Verb: "get", Path: "/x"}); d != authz.NoOpinion || reason != "" {
		t.Errorf("without a user: %d %q", d, reason)
	}
}

func TestChanges(t *testing.T) {
	c := newFakeCluster()
	a := c.authorizer(t)
	const pods = "get core pods ns p"
	steps := []struct {
		name string
		do   func()
		want string // the allowed users
	}{
		{"nothing", func() {}, ""},
		{"a binding without its role", func() { c.set(t, "rolebindings/ns/b", binding("Role/r", "User:jane", "Group:dev", "User:jane")) }, ""},
		{"the role comes", func() { c.set(t, "roles/ns/r", role("get core pods")) }, "jane dev"},
		{"another binding of it", func() { c.set(t, "rolebindings/ns/c", binding("Role/r", "User:joe")) }, "jane joe dev"},
		{"one subject fewer", func() { c.set(t, "rolebindings/ns/b", binding("Role/r", "User:jane")) }, "jane joe"},
		{"the role loses the right", func() { c.set(t, "roles/ns/r", role("list core pods")) }, ""},
		{"and has it again", func() { c.set(t, "roles/ns/r", role("get,list core pods")) }, "jane joe"},
		{"the role goes", func() { c.delete("roles/ns/r") }, ""},
		{"and comes again", func() { c.set(t, "roles/ns/r", role("get core pods")) }, "jane joe"},
		{"a binding goes", func() { c.delete("rolebindings/ns/b") }, "joe"},
		{"it goes again", func() { c.delete("rolebindings/ns/b") }, "joe"},
		{"it is of the cluster now", func() {
			c.delete("rolebindings/ns/c")
			c.set(t, "clusterroles/r", role("get core pods"))
			c.set(t, "clusterrolebindings/c", binding("ClusterRole/r", "Group:dev"))
		}, "dev"},
		{"and goes", func() { c.delete("clusterrolebindings/c") }, ""},
		{"all go", func() { c.delete("clusterroles/r"); c.delete("roles/ns/r") }, ""},
	}
	for _, step := range steps {
		step.do()
		var caller []string
		for _, name := range []string{"jane", "joe"} {
			if isAllowed(a, name, pods) {
				caller = append(caller, name)
			}
		}
		if isAllowed(a, "x dev", pods) {
			caller = append(caller, "dev")
		}
		if got := strings.Join(caller, " "); got != step.want {
			t.Errorf("%s: got %q, want %q", step.name, got, step.want)
		}
	}
}

func TestPermissions(t *testing.T) {
	c := newFakeCluster()
	c.set(t, "clusterroles/a", role("get core pods p", "get /x"))
	c.set(t, "roles/ns/b", role("list,watch apps deployments"))
	c.set(t, "clusterrolebindings/a", binding("ClusterRole/a", "User:jane", "Group:dev"))
	c.set(t, "rolebindings/ns/b", binding("Role/b", "Group:dev"))
	c.set(t, "rolebindings/other/b", binding("Role/b", "Group:dev"))
	a := c.authorizer(t)
	tests := []struct{ caller, namespace, want string }{
		{"jane dev", "ns", "{[{[get] [] [pods] [p]} {[list watch] [apps] [deployments] []}] [{[get] [/x]}] false }"},
		{"jane", "ns", "{[{[get] [] [pods] [p]}] [{[get] [/x]}] false }"},
		{"nobody", "ns", "{[] [] false }"},
		{"x dev", "other", `{[{[get] [] [pods] [p]}] [{[get] [/x]}] false role.rbac.authorization.platform.io "b" not found}`},
	}
	for _, test := range tests {
		if got := fmt.Sprint(a.RulesFor(user(test.caller), test.namespace)); got != test.want {
			t.Errorf("%s in %s: got %s, want %s", test.caller, test.namespace, got, test.want)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	c := newFakeCluster()
	c.set(t, "clusterroles/a", role("get core pods", "get core a", "get core b", "get core c", "get core d", "get core e"))
	c.set(t, "rolebindings/ns/b", binding("ClusterRole/a", "Group:dev"))
	a := c.authorizer(t)
	for text, want := range map[string]authz.Decision{"get core pods ns p": authz.Allow, "get core secrets ns p": authz.NoOpinion} {
		request := parseAttributes("jane x dev", text)
		if n := testing.AllocsPerRun(100, func() {
			if d, _ := a.Authorize(request); d != want {
				t.Fatalf("%s: %d", text, d)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}
