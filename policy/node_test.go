package policy_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/node"
)

// A fakeCluster delivers changes to followers; objects are keyed "resource namespace/name".
type fakeCluster struct {
	objects  map[string]*policy.Object
	mu       sync.Mutex
	handlers map[string]func(policy.Change)
}

func (c *fakeCluster) Get(r meta.GroupResource, namespace, name string) *policy.Object {
	return c.objects[r.Resource+" "+namespace+"/"+name]
}

func (c *fakeCluster) Inform(_ context.Context, r meta.GroupResource, see func(policy.Change)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handlers[r.Resource] = see
	return nil
}

// set stores the object "namespace/name" or "name"; text "" deletes it.
func (c *fakeCluster) set(t *testing.T, resource, where, text string) {
	t.Helper()
	namespace, name, ok := strings.Cut(where, "/")
	if !ok {
		namespace, name = "", where
	}
	change := policy.Change{Object: &policy.Object{Key: meta.Key{Namespace: namespace, Name: name}}, Deleted: text == ""}
	if text != "" {
		change.Tree = parseTree(t, text)
	}
	c.handlers[resource](change)
}

func newTestAuthorizer(t *testing.T) (*fakeCluster, *node.Authorizer) {
	t.Helper()
	c := &fakeCluster{handlers: map[string]func(policy.Change){}}
	a, err := node.New(t.Context(), c, meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	return c, a
}

// isAllowed parses "verb [group/]resource[/sub] [namespace/]name [field=value]" for node n1. Groups
// contain a dot.
func isAllowed(a *node.Authorizer, text string) bool {
	parts := strings.Fields(text)
	at := authz.Attributes{User: &authn.User{Name: "system:node:n1", Groups: []string{"system:nodes"}}, Verb: parts[0], ResourceRequest: true}
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

const podOnN1 = `{"spec":{"nodeName":"n1","serviceAccountName":"robot","imagePullSecrets":[{"name":"pull"}],
	"initContainers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"key"}}}]}],
	"containers":[{"envFrom":[{"secretRef":{"name":"from"}},{"configMapRef":{"name":"mapfrom"}}],"env":[{"value":"x"},{"valueFrom":{"configMapKeyRef":{"name":"mapkey"}}}]}],
	"ephemeralContainers":[{"envFrom":[{"secretRef":{"name":"debug"}}]}],
	"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"claim"}},{"name":"e","ephemeral":{}},{"secret":{"secretName":"vol"}},{"configMap":{"name":"mapvol"}},
		{"csi":{"nodePublishSecretRef":{"name":"csi"}}},{"azureFile":{"secretName":"azure"}},{"rbd":{"secretRef":{"name":"rbd"}}},
		{"projected":{"sources":[{"secret":{"name":"proj"}},{"configMap":{"name":"mapproj"}}]}}],
	"resourceClaims":[{"resourceClaimName":"gpu"}]},"status":{"resourceClaimStatuses":[{"resourceClaimName":"made"}]}}`

func TestGraph(t *testing.T) {
	c, a := newTestAuthorizer(t)
	related := []string{
		"get pods ns/p", "watch pods ns/p", "get serviceaccounts ns/robot", "create serviceaccounts/token ns/robot",
		"get persistentvolumeclaims ns/claim", "get persistentvolumeclaims ns/p-e", "update persistentvolumeclaims/status ns/claim",
		"get resource.platform.io/resourceclaims ns/gpu", "get resource.platform.io/resourceclaims ns/made",
		"get persistentvolumes pv", "get secrets ns/stage", "get secrets vault/publish", "get secrets ns/ceph",
		"list secrets ns/key", "watch configmaps ns/mapvol",
	}
	for _, name := range []string{"pull", "key", "from", "debug", "vol", "csi", "azure", "rbd", "proj"} {
		related = append(related, "get secrets ns/"+name)
	}
	for _, name := range []string{"mapfrom", "mapkey", "mapvol", "mapproj"} {
		related = append(related, "get configmaps ns/"+name)
	}
	check := func(when string, want bool) {
		t.Helper()
		for _, text := range related {
			if isAllowed(a, text) != want {
				t.Errorf("%s: %s: want %t", when, text, want)
			}
		}
	}
	const volume = `{"spec":{"claimRef":{"namespace":"ns","name":"claim"},"cephfs":{"secretRef":{"name":"ceph"}},
		"csi":{"nodeStageSecretRef":{"name":"stage"},"nodePublishSecretRef":{"name":"publish","namespace":"vault"},"controllerPublishSecretRef":{"name":"control"}}}}`
	check("nothing", false)
	c.set(t, "pods", "ns/p", podOnN1)
	c.set(t, "persistentvolumes", "pv", volume)
	check("bound", true)
	for _, text := range []string{
		"get secrets other/pull", "get secrets ns/control", "get secrets ns/other", "update secrets ns/pull", "create secrets ns/pull", "list secrets -", "get secrets/status ns/pull",
		"list persistentvolumeclaims ns/claim", "get persistentvolumes other", "delete serviceaccounts/token ns/robot", "create serviceaccounts/token ns/other", "get persistentvolumeclaims/status ns/claim",
	} {
		if isAllowed(a, text) {
			t.Errorf("%s is allowed", text)
		}
	}
	c.set(t, "pods", "ns/p", strings.ReplaceAll(podOnN1, "n1", "n2"))
	check("on another node", false)
	c.set(t, "pods", "ns/p", strings.ReplaceAll(podOnN1, `"nodeName":"n1",`, ""))
	check("on no node", false)
	c.set(t, "pods", "ns/p", podOnN1)
	c.set(t, "pods", "ns/p", podOnN1)
	check("back", true)
	c.set(t, "pods", "ns/p", "")
	check("gone", false)
	c.set(t, "pods", "ns/p", strings.ReplaceAll(podOnN1, `{"spec"`, `{"metadata":{"annotations":{"platform.io/config.mirror":""}},"spec"`))
	if !isAllowed(a, "get pods ns/p") || isAllowed(a, "get secrets ns/pull") {
		t.Error("a mirror Pod is not its node's, or leads further")
	}
	c.set(t, "pods", "ns/p", podOnN1)
	c.set(t, "persistentvolumes", "pv", strings.ReplaceAll(volume, `"claim"`, `"other"`))
	if isAllowed(a, "get persistentvolumes pv") || isAllowed(a, "get secrets ns/stage") {
		t.Error("a volume of another claim is the node's")
	}
	c.set(t, "persistentvolumes", "pv", volume)
	check("volume back", true)
	c.set(t, "persistentvolumes", "pv", "")
	if isAllowed(a, "get persistentvolumes pv") || isAllowed(a, "get secrets ns/stage") {
		t.Error("a volume that has gone is the node's")
	}
}

// TestSharedReferences tests that a Secret used by two Pods stays accessible until both are gone.
func TestSharedReferences(t *testing.T) {
	c, a := newTestAuthorizer(t)
	c.set(t, "pods", "ns/p", podOnN1)
	c.set(t, "pods", "ns/q", podOnN1)
	c.set(t, "pods", "ns/p", "")
	if !isAllowed(a, "get secrets ns/pull") {
		t.Error("the other Pod does not count")
	}
	c.set(t, "pods", "ns/q", "")
	if isAllowed(a, "get secrets ns/pull") {
		t.Error("no Pod is left")
	}
}

func TestRules(t *testing.T) {
	c, a := newTestAuthorizer(t)
	c.set(t, "volumeattachments", "va", `{"spec":{"nodeName":"n1"}}`)
	c.set(t, "volumeattachments", "vb", `{"spec":{"nodeName":"n2"}}`)
	c.set(t, "resourceslices", "sa", `{"spec":{"nodeName":"n1"}}`)
	c.set(t, "resourceslices", "sb", `{"spec":{"nodeName":"n2"}}`)
	c.set(t, "resourceslices", "sc", `{"spec":{"nodeName":"n1"}}`)
	c.set(t, "resourceslices", "sc", "")
	for text, want := range map[string]bool{
		"create authentication.platform.io/tokenreviews":            true,
		"create authorization.platform.io/subjectaccessreviews":     true,
		"create authorization.platform.io/selfsubjectaccessreviews": false,
		"list services": true, "create services -": false, "get endpoints ns/a": true, "list endpoints": false,
		"create events ns/": true, "patch events.platform.io/events ns/e": true, "get events ns/e": false,
		"create nodes -": true, "update nodes n2": true, "get nodes n1": true, "get nodes n2": false, "list nodes -": false, "watch nodes n1": true, "delete nodes n1": false,
		"patch nodes/status n1": true, "get nodes/status n1": false, "get nodes/proxy n1": false,
		"create pods ns/": true, "delete pods ns/x": true, "update pods ns/x": false, "get pods ns/x": false, "deletecollection pods -": false,
		"list pods - spec.nodeName=n1": true, "watch pods - spec.nodeName=n1": true, "list pods - spec.nodeName=n2": false, "list pods -": false, "list pods - metadata.name=x": false,
		"patch pods/status ns/x": true, "get pods/status ns/x": false, "create pods/eviction ns/x": true, "create pods/exec ns/x": false, "get pods/log ns/x": false,
		"get storage.platform.io/volumeattachments va": true, "get storage.platform.io/volumeattachments vb": false, "list storage.platform.io/volumeattachments va": false,
		"list storage.platform.io/csidrivers": true, "create storage.platform.io/csidrivers": false,
		"get storage.platform.io/csinodes n1": true, "create storage.platform.io/csinodes": true, "get storage.platform.io/csinodes n2": false, "list storage.platform.io/csinodes": false,
		"update coordination.platform.io/leases platform-node-lease/n1": true, "create coordination.platform.io/leases platform-node-lease/": true,
		"update coordination.platform.io/leases platform-node-lease/n2": false, "update coordination.platform.io/leases ns/n1": false, "list coordination.platform.io/leases platform-node-lease/n1": false,
		"watch node.platform.io/runtimeclasses": true, "create certificates.platform.io/certificatesigningrequests": true, "update certificates.platform.io/certificatesigningrequests x": false,
		"get resource.platform.io/resourceslices sa": true, "get resource.platform.io/resourceslices sb": false, "get resource.platform.io/resourceslices sc": false, "create resource.platform.io/resourceslices": true,
		"list resource.platform.io/resourceslices - spec.nodeName=n1": true, "deletecollection resource.platform.io/resourceslices - spec.nodeName=n2": false, "list resource.platform.io/resourceslices": false,
		"get namespaces ns": false, "list rbac.authorization.platform.io/roles": false,
	} {
		if isAllowed(a, text) != want {
			t.Errorf("%s: want %t", text, want)
		}
	}
}

func TestIdentity(t *testing.T) {
	_, a := newTestAuthorizer(t)
	for _, c := range []struct {
		user   *authn.User
		reason string
		node   bool
	}{
		{nil, "", false},
		{&authn.User{Name: "system:node:n1"}, "", false},
		{&authn.User{Name: "n1", Groups: []string{"system:nodes"}}, "", false},
		{&authn.User{Name: "system:node:", Groups: []string{"system:nodes"}}, `unknown node for user "system:node:"`, true},
		{&authn.User{Name: "system:node:n1", Groups: []string{"system:nodes"}}, "node 'n1' cannot read 'n2', only its own Node object", true},
	} {
		d, reason := a.Authorize(authz.Attributes{User: c.user, Verb: "get", ResourceRequest: true, Resource: "nodes", Name: "n2"})
		if d != authz.NoOpinion || reason != c.reason {
			t.Errorf("%+v: got %d %q", c.user, d, reason)
		}
		if p := a.RulesFor(c.user, ""); p.Incomplete != c.node || (p.EvaluationError != "") != c.node {
			t.Errorf("%+v: got %+v", c.user, p)
		}
	}
	if d, _ := a.Authorize(authz.Attributes{User: &authn.User{Name: "system:node:n1", Groups: []string{"system:nodes"}}, Verb: "get", Path: "/metrics"}); d != authz.NoOpinion {
		t.Error("a path is allowed")
	}
}
