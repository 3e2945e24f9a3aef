package policy_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/node"
)

var node1 = &authn.User{Name: "system:node:n1", Groups: []string{"system:nodes"}}

func newTestAuthorizer(t *testing.T) (*fakeCluster, *node.Authorizer) {
	t.Helper()
	c := newCluster(t, nil)
	a, err := node.New(t.Context(), c, meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	return c, a
}

// isAllowed reports whether node n1 may make the request "verb [group/]resource[/sub]
// [namespace/]name [field=value]". A group contains a dot.
func isAllowed(a *node.Authorizer, text string) bool {
	parts := strings.Fields(text)
	at := authz.Attributes{User: node1, Verb: parts[0], ResourceRequest: true}
	path := strings.Split(parts[1], "/")
	if strings.Contains(path[0], ".") {
		at.Group, path = path[0], path[1:]
	}
	at.Resource = path[0]
	if len(path) > 1 {
		at.Subresource = path[1]
	}
	if len(parts) > 2 && parts[2] != "-" {
		at.Namespace, at.Name, _ = strings.Cut(parts[2], "/")
		if !strings.Contains(parts[2], "/") {
			at.Namespace, at.Name = "", parts[2]
		}
	}
	if len(parts) > 3 {
		key, value, _ := strings.Cut(parts[3], "=")
		at.Selectors = &authz.Selectors{Fields: []selector.Requirement{{Key: key, Operator: "In", Values: []string{value}}}}
	}
	d, _ := a.Authorize(at)
	return d == authz.Allow
}

func TestGraph(t *testing.T) {
	c, a := newTestAuthorizer(t)
	g := readCases[struct {
		Pod, Volume        object
		Related, Unrelated []string
	}](t, "node/graph")
	pod, volume := string(g.Pod), string(g.Volume)
	check := func(when string, want bool) {
		t.Helper()
		for _, text := range g.Related {
			if isAllowed(a, text) != want {
				t.Errorf("%s: %s: want %t", when, text, want)
			}
		}
	}
	check("nothing", false)
	c.set(t, "pods ns/p", pod)
	c.set(t, "persistentvolumes /pv", volume)
	check("bound", true)
	for _, text := range g.Unrelated {
		if isAllowed(a, text) {
			t.Errorf("%s is allowed", text)
		}
	}
	c.set(t, "pods ns/p", strings.ReplaceAll(pod, "n1", "n2"))
	check("on another node", false)
	c.set(t, "pods ns/p", strings.ReplaceAll(pod, `"nodeName":"n1",`, ""))
	check("on no node", false)
	c.set(t, "pods ns/p", pod)
	c.set(t, "pods ns/p", pod)
	check("back", true)
	c.set(t, "pods ns/p", "")
	check("gone", false)
	c.set(t, "pods ns/p", strings.ReplaceAll(pod, `{"spec"`, `{"metadata":{"annotations":{"platform.io/config.mirror":""}},"spec"`))
	if !isAllowed(a, "get pods ns/p") || isAllowed(a, "get secrets ns/pull") {
		t.Error("a mirror Pod is not its node's, or leads further")
	}
	c.set(t, "pods ns/p", pod)
	for when, text := range map[string]string{"of another claim": strings.ReplaceAll(volume, `"claim"`, `"other"`), "that has gone": ""} {
		c.set(t, "persistentvolumes /pv", volume)
		check("volume back", true)
		c.set(t, "persistentvolumes /pv", text)
		if isAllowed(a, "get persistentvolumes pv") || isAllowed(a, "get secrets ns/stage") {
			t.Errorf("a volume %s is the node's", when)
		}
	}
}

func TestSharedReferences(t *testing.T) {
	c, a := newTestAuthorizer(t)
	for _, pod := range []string{"pods ns/p", "pods ns/q"} {
		c.set(t, pod, `{"spec":{"nodeName":"n1","imagePullSecrets":[{"name":"pull"}]}}`)
	}
	c.set(t, "pods ns/p", "")
	if !isAllowed(a, "get secrets ns/pull") {
		t.Error("the other Pod does not count")
	}
	c.set(t, "pods ns/q", "")
	if isAllowed(a, "get secrets ns/pull") {
		t.Error("no Pod is left")
	}
}

func TestRules(t *testing.T) {
	c, a := newTestAuthorizer(t)
	for key, name := range map[string]string{"volumeattachments /va": "n1", "volumeattachments /vb": "n2", "resourceslices /sa": "n1", "resourceslices /sb": "n2", "resourceslices /sc": "n1",
		"podcertificaterequests ns/ra": "n1", "podcertificaterequests ns/rb": "n2"} {
		c.set(t, key, `{"spec":{"nodeName":"`+name+`"}}`)
	}
	c.set(t, "resourceslices /sc", "")
	for want, all := range readCases[map[string][]string](t, "node/rules") {
		for _, text := range all {
			if isAllowed(a, text) != (want == "allowed") {
				t.Errorf("%s: want it %s", text, want)
			}
		}
	}
}

func TestIdentity(t *testing.T) {
	_, a := newTestAuthorizer(t)
	for _, c := range readCases[[]struct {
		User   *authn.User
		Reason string
		Node   bool
	}](t, "node/identity") {
		d, reason := a.Authorize(authz.Attributes{User: c.User, Verb: "get", ResourceRequest: true, Resource: "nodes", Name: "n2"})
		if d != authz.NoOpinion || reason != c.Reason {
			t.Errorf("%+v: got %d %q", c.User, d, reason)
		}
		if p := a.RulesFor(c.User, ""); p.Incomplete != c.Node || (p.EvaluationError != "") != c.Node {
			t.Errorf("%+v: got %+v", c.User, p)
		}
	}
	if d, _ := a.Authorize(authz.Attributes{User: node1, Verb: "get", Path: "/metrics"}); d != authz.NoOpinion {
		t.Error("a path is allowed")
	}
}
