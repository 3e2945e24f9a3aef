package rbac_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// newAttributes returns a change of the object at path by user who; old is "" for a create.
func newAttributes(t *testing.T, who, path, old, wanted string) *request.Attributes {
	t.Helper()
	k := key(path)
	a := &request.Attributes{
		User: user(who), Operation: request.OnUpdate, Mutation: &request.Mutation{Change: request.Update{}}, Key: k,
		Kind: &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Group: group, Version: "v1"}, Resource: k.Resource},
	}
	if wanted != "" {
		a.New = parseTree(t, wanted)
	}
	if old == "" {
		a.Operation, a.Mutation.Change = request.OnCreate, request.Create{}
	} else {
		a.Old = parseTree(t, old)
	}
	return a
}

func TestEscalation(t *testing.T) {
	c := newFakeCluster()
	c.set(t, "clusterroles/all", role("* * *", "* *"))
	c.set(t, "clusterroles/resources", role("get,list * *"))
	c.set(t, "clusterroles/reader", role("get,list core,apps pods,deployments", "get /a/*"))
	c.set(t, "clusterroles/named", role("get core secrets a,b"))
	c.set(t, "clusterroles/scaler", role("update * */scale"))
	c.set(t, "clusterroles/escalator", role("escalate rbac.authorization.platform.io clusterroles,roles free"))
	c.set(t, "clusterroles/binder", role("bind rbac.authorization.platform.io clusterroles,roles strong"))
	c.set(t, "clusterroles/strong", role("delete core nodes"))
	c.set(t, "roles/ns/strong", role("delete core pods"))
	for _, name := range []string{"all", "resources", "reader", "named", "scaler", "escalator", "binder"} {
		c.set(t, "clusterrolebindings/"+name, binding("ClusterRole/"+name, "User:"+name))
		c.set(t, "rolebindings/ns/"+name, binding("ClusterRole/"+name, "User:"+name+"-in-ns"))
	}
	c.set(t, "clusterrolebindings/lost", binding("ClusterRole/none", "User:lost"))
	const denied = `is attempting to grant RBAC permissions not currently held:`
	gathering := strings.TrimSuffix(role(), "}") + `,"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`
	with := func(body, metadata string) string {
		return strings.TrimSuffix(body, "}") + `,"metadata":` + metadata + `}`
	}
	strong := role("delete core nodes")
	tests := []struct {
		who, path, old, wanted string
		want                   string // end of the error, or ""
	}{
		{"nobody g", "roles/ns/r", "", role(), ""},
		{"nobody g", "roles/ns/r", "", role("get core pods"), `roles.rbac.authorization.platform.io "r" is forbidden: user "nobody" (groups=["g"]) ` + denied + "\n" + `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`},
		{"nobody g h", "clusterroles/r", "", role("* * *", "* *"), `clusterroles.rbac.authorization.platform.io "r" is forbidden: user "nobody" (groups=["g" "h"]) ` + denied + "\n" + `{APIGroups:["*"], Resources:["*"], Verbs:["*"]}` + "\n" + `{NonResourceURLs:["*"], Verbs:["*"]}`},
		{"nobody system:masters", "clusterroles/r", "", role("* * *"), ""},
		{"all", "clusterroles/r", "", role("* * *", "* *", "get core x/y n"), ""},
		{"resources", "clusterroles/r", "", role("get x y/z", "get /x"), denied + "\n" + `{NonResourceURLs:["/x"], Verbs:["get"]}`},
		{"reader", "clusterroles/r", "", role("get core pods", "list apps deployments", "list core,apps deployments a", "get /a/b,/a/*"), ""},
		{"reader", "clusterroles/r", "", role("get,list,watch,delete core pods,nodes"), denied + "\n" +
			`{APIGroups:[""], Resources:["nodes"], Verbs:["get" "list" "watch" "delete"]}` + "\n" + `{APIGroups:[""], Resources:["pods"], Verbs:["watch" "delete"]}`},
		{"reader", "clusterroles/r", "", role("get /a", "get /a*"), denied + "\n" + `{NonResourceURLs:["/a"], Verbs:["get"]}` + "\n" + `{NonResourceURLs:["/a*"], Verbs:["get"]}`},
		{"reader-in-ns", "roles/ns/r", "", role("get core pods"), ""},
		{"reader-in-ns", "roles/other/r", "", role("get core pods"), denied + "…"},
		{"reader-in-ns", "clusterroles/r", "", role("get core pods"), denied + "…"},
		{"named", "clusterroles/r", "", role("get core secrets a"), ""},
		{"named", "clusterroles/r", "", role("get core secrets a,c"), denied + "\n" + `{APIGroups:[""], Resources:["secrets"], ResourceNames:["c"], Verbs:["get"]}`},
		{"named", "clusterroles/r", "", role("get core secrets"), denied + "\n" + `{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`},
		{"scaler", "clusterroles/r", "", role("update apps deployments/scale,*/scale"), ""},
		{"scaler", "clusterroles/r", "", role("update apps deployments"), denied + "…"},
		{"lost", "clusterroles/r", "", role("get core pods"), `Verbs:["get"]}; resolution errors: [clusterrole.rbac.authorization.platform.io "none" not found]`},
		{"nobody", "clusterroles/r", strong, strong, ""},
		{"nobody", "clusterroles/r", strong, with(strong, `{"labels":{"aggregate":"x"}}`), denied + "…"},
		{"nobody", "clusterroles/r", with(strong, `{"finalizers":["a"],"ownerReferences":[{"uid":"x"}]}`), with(strong, `{"finalizers":[]}`), ""},
		{"nobody", "clusterroles/r", with(strong, `{"finalizers":["a"]}`), with(role("delete core nodes", "get core nodes"), `{}`), denied + "…"},
		{"nobody", "clusterroles/r", strong, "", ""},
		{"reader", "clusterroles/r", role("get core pods"), role("get core pods", "list core pods"), ""},
		{"escalator", "clusterroles/free", role(), strong, ""},
		{"escalator", "clusterroles/other", role(), strong, denied + "…"},
		{"escalator", "clusterroles/free", "", strong, denied + "…"}, // a name never allows a create
		{"escalator-in-ns", "roles/ns/free", role(), strong, ""},
		{"escalator-in-ns", "roles/other/free", role(), strong, denied + "…"},
		{"escalator-in-ns", "clusterroles/free", role(), strong, denied + "…"},
		// aggregating roles
		{"resources", "clusterroles/r", "", gathering, `must have cluster-admin privileges to use the aggregationRule`},
		{"resources", "clusterroles/r", gathering, role(), `must have cluster-admin privileges to use the aggregationRule`},
		{"all", "clusterroles/r", "", gathering, ""},
		{"nobody system:masters", "clusterroles/r", gathering, role(), ""},
		{"nobody", "clusterrolebindings/b", "", binding("ClusterRole/strong", "User:nobody"), `clusterrolebindings.rbac.authorization.platform.io "b" is forbidden: user "nobody" (groups=[]) ` + denied + "\n" + `{APIGroups:[""], Resources:["nodes"], Verbs:["delete"]}`},
		{"nobody", "rolebindings/ns/b", "", binding("Role/strong", "User:nobody"), denied + "\n" + `{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}`},
		{"nobody", "rolebindings/ns/b", binding("Role/strong"), binding("Role/strong", "User:nobody"), denied + "…"},
		{"nobody", "rolebindings/ns/b", "", binding("Role/none", "User:nobody"), `role.rbac.authorization.platform.io "none" not found`},
		// may bind anything
		{"all", "clusterrolebindings/b", "", binding("ClusterRole/none", "User:nobody"), ""},
		{"nobody", "clusterrolebindings/b", "", binding("Role/strong", "User:nobody"), ""}, // invalid
		{"nobody", "rolebindings/ns/b", "", binding("Robot/strong", "User:nobody"), ""},
		{"nobody", "rolebindings/ns/b", "", binding("Role/", "User:nobody"), ""},
		{"reader", "clusterrolebindings/b", "", binding("ClusterRole/none", "User:nobody"), `clusterrole.rbac.authorization.platform.io "none" not found`},
		{"all-in-ns", "rolebindings/ns/b", "", binding("ClusterRole/strong", "User:nobody"), ""},
		{"all-in-ns", "rolebindings/other/b", "", binding("ClusterRole/strong", "User:nobody"), denied + "…"},
		{"all-in-ns", "clusterrolebindings/b", "", binding("ClusterRole/strong", "User:nobody"), denied + "…"},
		{"reader", "clusterrolebindings/b", "", binding("ClusterRole/reader", "User:nobody"), ""},
		{"binder", "clusterrolebindings/b", "", binding("ClusterRole/strong", "User:nobody"), ""},
		{"binder", "rolebindings/ns/b", "", binding("Role/strong", "User:nobody"), ""},
		{"binder", "clusterrolebindings/b", "", binding("ClusterRole/all", "User:nobody"), denied + "…"},
		{"binder-in-ns", "rolebindings/ns/b", "", binding("ClusterRole/strong", "User:nobody"), ""},
		{"binder-in-ns", "clusterrolebindings/b", "", binding("ClusterRole/strong", "User:nobody"), denied + "…"},
		{"escalator", "rolebindings/ns/b", "", binding("ClusterRole/strong", "User:nobody"), denied + "…"},
	}
	roles := c.authorizer(t)
	chain := admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{rbac.Escalation(roles, roles, c)})
	for _, test := range tests {
		a := newAttributes(t, test.who, test.path, test.old, test.wanted)
		a.Kind.Storage = a.Key.GroupResource
		a.Mutation.Admission = chain.For(a.User, a.Kind, "", a.Key.Namespace)
		err := a.Admit(request.InTurn)
		got := ""
		if err != nil {
			got = err.Error()
		}
		want, some := strings.CutSuffix(test.want, "…")
		if test.want == "" && got != "" || !some && !strings.HasSuffix(got, want) || some && !strings.Contains(got, want) {
			t.Errorf("%s %s %s → %s:\n got %q\nwant %q", test.who, test.path, test.old, test.wanted, got, test.want)
		}
	}
}

// TestEscalationOfHugeRules checks that rules with too many parts are not broken down.
func TestEscalationOfHugeRules(t *testing.T) {
	many := func(prefix string) string { return prefix + strings.Repeat(","+prefix, 999) }
	huge := role(many("v") + " " + many("g") + " " + many("r"))
	c := newFakeCluster()
	c.set(t, "clusterroles/all", role("* * *"))
	c.set(t, "clusterroles/same", huge)
	c.set(t, "clusterrolebindings/all", binding("ClusterRole/all", "User:all"))
	c.set(t, "clusterrolebindings/same", binding("ClusterRole/same", "User:same"))
	roles := c.authorizer(t)
	p := rbac.Escalation(roles, roles, c).Mutator
	for who, allowed := range map[string]bool{"nobody": false, "all": true, "same": true} {
		if err := p.Admit(newAttributes(t, who, "clusterroles/r", "", huge)); (err == nil) != allowed {
			t.Errorf("%s: %v", who, err != nil)
		}
	}
}

// TestEscalationRuleCountOverflow checks that a number of parts beyond an int is handled.
func TestEscalationRuleCountOverflow(t *testing.T) {
	many := strings.Repeat(",", 1<<16-1)
	list := "core" + many
	c := newFakeCluster()
	roles := c.authorizer(t)
	p := rbac.Escalation(roles, roles, c).Mutator
	endless := role("v" + many + " " + list + " r" + many + " n" + many)
	if err := p.Admit(newAttributes(t, "nobody", "clusterroles/r", "", endless)); err == nil {
		t.Error("nobody may grant it")
	}
}

// TestEscalationOfManyRules checks that the limit applies to the whole role.
func TestEscalationOfManyRules(t *testing.T) {
	var lines []string
	for n := range 20 {
		var resources []string
		for i := range 9000 {
			resources = append(resources, fmt.Sprintf("r%d-%d", n, i))
		}
		lines = append(lines, "get core "+strings.Join(resources, ","))
	}
	c := newFakeCluster()
	roles := c.authorizer(t)
	p := rbac.Escalation(roles, roles, c).Mutator
	err := p.Admit(newAttributes(t, "nobody", "clusterroles/r", "", role(lines...)))
	if err == nil {
		t.Fatal("nobody may grant it")
	}
	if n := strings.Count(err.Error(), "\n"); n < 9000 || n > 10_000+len(lines) {
		t.Errorf("the refusal has %d lines", n)
	}
}
