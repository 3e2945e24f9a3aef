package rbac_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// newAttributes returns the attributes of a change to the object at path by a user. An empty old
// means a create.
func newAttributes(t *testing.T, caller, path, old, wanted string) *request.Attributes {
	t.Helper()
	k := key(path)
	a := &request.Attributes{
		User: user(caller), Operation: request.OnUpdate, Mutation: &request.Mutation{Change: request.Update{}}, Key: k,
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
	roles := c.authorizer(t)
	chain := admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{rbac.Escalation(roles, roles, c)})
	for _, c := range readCases[struct {
		Who, Path   string
		Old, Wanted json.RawMessage
		Want        string
	}](t, "escalation") {
		a := newAttributes(t, c.Who, c.Path, string(c.Old), string(c.Wanted))
		a.Kind.Storage = a.Key.GroupResource
		a.Mutation.Admission = chain.For(a.User, a.Kind, "", a.Key.Namespace)
		got := ""
		if err := a.Admit(request.InTurn); err != nil {
			got = err.Error()
		}
		want, some := strings.CutSuffix(c.Want, "…")
		if want == "" && got != "" || !some && !strings.HasSuffix(got, want) || some && !strings.Contains(got, want) {
			t.Errorf("%s %s %s → %s:\n got %q\nwant %q", c.Who, c.Path, c.Old, c.Wanted, got, c.Want)
		}
	}
}

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
	for caller, allowed := range map[string]bool{"nobody": false, "all": true, "same": true} {
		if err := p.Admit(newAttributes(t, caller, "clusterroles/r", "", huge)); (err == nil) != allowed {
			t.Errorf("%s: %v", caller, err != nil)
		}
	}
}

func TestEscalationRuleCountOverflow(t *testing.T) {
	many := strings.Repeat(",", 1<<16-1)
	list := "core" + many
	c := newFakeCluster()
	roles := c.authorizer(t)
	p := rbac.Escalation(roles, roles, c).Mutator
	endless := role("v" + many + " " + list + " r" + many + " n" + many)
	if err := p.Admit(newAttributes(t, "nobody", "clusterroles/r", "", endless)); err == nil {
		t.Error("a user without permissions may grant the role")
	}
}

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
		t.Fatal("a user without permissions may grant the role")
	}
	if n := strings.Count(err.Error(), "\n"); n < 9000 || n > 10_000+len(lines) {
		t.Errorf("the refusal has %d lines", n)
	}
}
