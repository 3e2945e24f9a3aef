package flowcontrol

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	catalog "github.com/troupe-api/troupe/kinds/api/flowcontrol"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

func maintained(c *Controller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range catalog.FlowSchemas(meta.Kubernetes) {
		c.schemas[o.Name] = parseSchema(o.Name, "uid-"+o.Name, o.Spec)
	}
	for _, o := range catalog.PriorityLevels() {
		c.specs[o.Name] = parseLevel(o.Name, "uid-"+o.Name, o.Spec)
	}
	c.configure()
}

func TestClassify(t *testing.T) {
	c := aController(600)
	user := func(name string, groups ...string) *authn.User {
		return &authn.User{Name: name, Groups: append(groups, "system:authenticated")}
	}
	admin, node, jane := user("admin", "system:masters"), user("system:node:a", "system:nodes"), user("jane")
	manager, account := user("system:kube-controller-manager"), user("system:serviceaccount:kube-system:x", "system:serviceaccounts")
	get := func(group, resource, sub, namespace string) authz.Attributes {
		return authz.Attributes{Verb: "get", ResourceRequest: true, Group: group, Resource: resource, Subresource: sub, Namespace: namespace}
	}
	path := func(p string) authz.Attributes { return authz.Attributes{Verb: "get", Path: p} }
	leases := get("coordination.k8s.io", "leases", "", "n")
	for _, test := range []struct {
		user *authn.User
		a    authz.Attributes
		want string
	}{
		{admin, get("", "pods", "", "n"), "exempt"},
		{admin, path("/metrics"), "exempt"},
		{jane, path("/readyz"), "probes"},
		{jane, path("/readyz/ping"), "probes"},
		{jane, path("/readyzz"), "global-default"},
		{jane, get("", "pods", "", "n"), "global-default"},
		{node, get("", "nodes", "", ""), "system-node-high"},
		{node, get("", "nodes", "status", ""), "system-node-high"},
		{node, get("", "nodes", "proxy", ""), "system-nodes"},
		{node, leases, "system-node-high"},
		{node, get("", "pods", "", "n"), "system-nodes"},
		{manager, leases, "system-leader-election"},
		{manager, get("", "pods", "", "n"), "kube-controller-manager"},
		{user("system:kube-scheduler"), get("", "pods", "", "n"), "kube-scheduler"},
		{account, leases, "system-leader-election"},
		{account, get("", "pods", "", "n"), "kube-system-service-accounts"},
		{user("system:serviceaccount:kube-systemx:x", "system:serviceaccounts"), get("", "pods", "", "n"), "service-accounts"},
		{&authn.User{Name: "nobody"}, get("", "pods", "", "n"), "catch-all"},
		{nil, get("", "pods", "", "n"), "catch-all"},
	} {
		test.a.User = test.user
		if got := c.current.Load().classify(&test.a).name; got != test.want {
			t.Errorf("%v %+v: %s, want %s", test.user, test.a, got, test.want)
		}
	}
}

func TestPrecedence(t *testing.T) {
	c := aController(600)
	set := func(name, level string, precedence int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.schemas[name] = &schema{name: name, level: level, precedence: precedence, rules: []rule{{
			subjects: []subject{{kind: subjectEverybody}}, resources: []resourceRule{{verbs: verbsOf([]string{"get"}), groups: set{all: true}, resources: set{values: []string{"pods"}}, namespaces: set{values: []string{"n"}}}},
		}}}
		c.configure()
	}
	a := authz.Attributes{User: &authn.User{Name: "x", Groups: []string{"system:authenticated"}}, Verb: "get", ResourceRequest: true, Resource: "pods", Namespace: "n"}
	expect := func(want string) {
		t.Helper()
		if got := c.current.Load().classify(&a).name; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	set("z", "system", 50)
	expect("z")
	set("b", "system", 50)
	expect("b")
	set("a", "nowhere", 10)
	expect("b")
	set("c", "system", 40)
	expect("c")
	a.Namespace = "other"
	expect("global-default")
}

func TestDrain(t *testing.T) {
	withoutPool(t)
	synctest.Test(t, func(t *testing.T) {
		c := aController(10)
		a := &authz.Attributes{User: &authn.User{Name: "x", Groups: []string{"system:authenticated"}}, Verb: "get", ResourceRequest: true, Resource: "pods", Namespace: "n"}
		r, err := c.Admit(t.Context(), a, new(Classification), nil, time.Second)
		if err != nil || r.level.spec.name != "global-default" {
			t.Fatal(err)
		}
		c.mu.Lock()
		delete(c.specs, "global-default")
		c.configure()
		c.mu.Unlock()
		if l := c.current.Load().levels["global-default"]; l == nil || !l.undesired {
			t.Fatal("the level has gone with a request in it")
		}
		other, err := c.Admit(t.Context(), a, new(Classification), nil, time.Second)
		if err != nil || other.level.spec.name != "catch-all" {
			t.Fatalf("the next one: %v", err)
		}
		other.Finish()
		c.tick()
		r.Finish()
		c.tick()
		if c.current.Load().levels["global-default"] != nil {
			t.Error("the level stays")
		}
		maintained(c)
		if l := c.current.Load().levels["global-default"]; l == nil || l.undesired || l.removed {
			t.Error("the level does not come back")
		}
	})
}

// TestStaleConfiguration checks that a removed level does not accept a request that was classified
// earlier. Admit then classifies the request again.
func TestStaleConfiguration(t *testing.T) {
	c := aController(10)
	l := c.current.Load().levels["global-default"]
	l.undesired = true
	if l.retire() {
		t.Fatal("an idle level stays")
	}
	r := &Request{schema: &bound{schema: &schema{}, level: l, stats: newStats()}}
	if outcome, _ := l.start(r, 0); outcome != gone {
		t.Errorf("%d", outcome)
	}
}

func TestMandatory(t *testing.T) {
	c := New(meta.Platform, 10)
	cfg := c.current.Load()
	if len(cfg.levels) != 2 || len(cfg.bounds) != 2 || cfg.levels["catch-all"].nominal != 10 {
		t.Errorf("%v", cfg.levels)
	}
	for group, want := range map[string]string{"system:masters": "exempt", "system:authenticated": "catch-all"} {
		a := &authz.Attributes{User: &authn.User{Groups: []string{group}}, Verb: "get", Path: "/"}
		for i := range 20 {
			r, err := c.Admit(t.Context(), a, new(Classification), nil, time.Second)
			if (err != nil) != (want == "catch-all" && i >= 10) || err == nil && r.schema.name != want {
				t.Errorf("%s, number %d: %v", group, i, err)
			}
		}
	}
}

func TestWork(t *testing.T) {
	for _, c := range []struct {
		l    Listing
		most int
		want int
	}{
		{Listing{}, 10, 1}, {Listing{Stored: 100}, 10, 1}, {Listing{Stored: 101}, 10, 2}, {Listing{Stored: 1e9}, 10, 10}, {Listing{Stored: 1e9}, 3, 3},
		{Listing{Stored: 900, Limit: 500}, 10, 5}, {Listing{Stored: 300, Limit: 500}, 10, 3}, {Listing{Stored: 900, Limit: 5, Selects: true}, 10, 9},
		{Listing{Stored: 300, Historical: true}, 10, 6}, {Listing{Stored: 300, Limit: 100, Selects: true, Historical: true}, 10, 4},
	} {
		if got := c.l.work(c.most).InitialSeats; got != c.want {
			t.Errorf("%+v at most %d: %d, want %d", c.l, c.most, got, c.want)
		}
	}
	var w Watches
	pods := func(namespace, name string) *authz.Attributes {
		return &authz.Attributes{Resource: "pods", Namespace: namespace, Name: name}
	}
	var remove []func()
	for range 10 {
		for _, a := range []*authz.Attributes{pods("", ""), pods("n", ""), pods("n", "x"), pods("m", "")} {
			remove = append(remove, w.Add(a))
		}
	}
	if got := fmt.Sprint(w.interested(pods("n", "x")), w.interested(pods("n", "")), w.interested(pods("m", "x")), w.interested(pods("", ""))); got != "30 20 20 10" {
		t.Error(got)
	}
	for _, f := range remove {
		f()
	}
	if len(w.open) != 0 || w.total.Load() != 0 {
		t.Errorf("left: %v", w.open)
	}
	if got := writeWork(9, 10); got != (Work{InitialSeats: 1}) {
		t.Errorf("few watches: %+v", got)
	}
	if got := writeWork(25, 10); got != (Work{1, 3, 5 * time.Millisecond}) {
		t.Errorf("25 watches: %+v", got)
	}
}

func BenchmarkAdmit(b *testing.B) {
	c := aController(600)
	a := &authz.Attributes{User: &authn.User{Name: "jane", Groups: []string{"dev", "ops", "system:authenticated"}}, Verb: "get", ResourceRequest: true, Version: "v1", Resource: "pods", Namespace: "n", Name: "x"}
	b.ReportAllocs()
	for b.Loop() {
		r, err := c.Admit(b.Context(), a, new(Classification), nil, time.Second)
		if err != nil {
			b.Fatal(err)
		}
		r.Finish()
	}
}

func BenchmarkAdmitParallel(b *testing.B) {
	c := aController(600)
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		a := &authz.Attributes{User: &authn.User{Name: "jane", Groups: []string{"dev", "ops", "system:authenticated"}}, Verb: "get", ResourceRequest: true, Version: "v1", Resource: "pods", Namespace: "n", Name: "x"}
		for p.Next() {
			r, err := c.Admit(b.Context(), a, new(Classification), nil, time.Second)
			if err != nil {
				b.Fatal(err)
			}
			r.Finish()
		}
	})
}
