package rbac_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/rbac"
	"sigs.k8s.io/yaml"
)

const group = "rbac.authorization.platform.io"

// A fakeCluster is an in-memory policy.Objects. set returns after all event handlers have handled
// the change.
type fakeCluster struct {
	mu        sync.Mutex
	objects   map[meta.Key]*policy.Object
	followers map[string][]func(policy.Change)
}

func newFakeCluster() *fakeCluster {
	return &fakeCluster{objects: map[meta.Key]*policy.Object{}, followers: map[string][]func(policy.Change){}}
}

func (c *fakeCluster) Get(r meta.GroupResource, namespace, name string) *policy.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects[meta.Key{GroupResource: r, Namespace: namespace, Name: name}]
}

func (c *fakeCluster) Inform(_ context.Context, r meta.GroupResource, see func(policy.Change)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, o := range c.objects {
		if key.GroupResource == r {
			see(policy.Change{Object: o})
		}
	}
	c.followers[r.Resource] = append(c.followers[r.Resource], see)
	return nil
}

func key(path string) meta.Key {
	resource, name, _ := strings.Cut(path, "/")
	k := meta.Key{GroupResource: meta.GroupResource{Group: group, Resource: resource}, Name: name}
	if resource == "roles" || resource == "rolebindings" {
		k.Namespace, k.Name, _ = strings.Cut(name, "/")
	}
	return k
}

func (c *fakeCluster) set(t testing.TB, path, body string) {
	t.Helper()
	c.put(&policy.Object{Key: key(path), Tree: parseTree(t, body)})
}

func (c *fakeCluster) put(o *policy.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[o.Key] = o
	for _, see := range c.followers[o.Key.Resource] {
		see(policy.Change{Object: o})
	}
}

func (c *fakeCluster) delete(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key(path)
	delete(c.objects, k)
	for _, see := range c.followers[k.Resource] {
		see(policy.Change{Object: &policy.Object{Key: k}, Deleted: true})
	}
}

func parseTree(t testing.TB, body string) tree.Tree {
	t.Helper()
	v, _, err := codec.DecodeAny([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return v.(tree.Tree)
}

func (c *fakeCluster) authorizer(t testing.TB) *rbac.Authorizer {
	t.Helper()
	a, err := rbac.New(t.Context(), c, meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// role returns a role with rules in the form "verbs groups resources names", with comma-separated
// lists, or "verbs paths". "core" is the core group.
func role(lines ...string) string {
	list := []any{}
	for _, line := range lines {
		fields := strings.Fields(line)
		r := tree.Tree{}
		names := []string{"verbs", "apiGroups", "resources", "resourceNames"}
		if len(fields) == 2 {
			names = []string{"verbs", "nonResourceURLs"}
		}
		for i, field := range fields {
			items := []any{}
			for s := range strings.SplitSeq(field, ",") {
				items = append(items, strings.TrimPrefix(s, "core"))
			}
			r[names[i]] = items
		}
		list = append(list, r)
	}
	return string(codec.AppendAny(nil, tree.Tree{"rules": list}))
}

// binding returns a binding of a role such as "Role/name" or "ClusterRole/name" to subjects such as
// "User:name" or "ServiceAccount:namespace/name".
func binding(ref string, subjects ...string) string {
	kind, name, _ := strings.Cut(ref, "/")
	list := []any{}
	for _, s := range subjects {
		kind, name, _ := strings.Cut(s, ":")
		subject := tree.Tree{"kind": kind, "name": name}
		if kind == "ServiceAccount" {
			namespace, name, _ := strings.Cut(name, "/")
			subject["namespace"], subject["name"] = namespace, name
		}
		list = append(list, subject)
	}
	return string(codec.AppendAny(nil, tree.Tree{
		"roleRef": tree.Tree{"apiGroup": group, "kind": kind, "name": name}, "subjects": list,
	}))
}

func user(text string) *authn.User {
	fields := strings.Fields(text)
	return &authn.User{Name: fields[0], Groups: slices.Clone(fields[1:])}
}

// parseAttributes parses "verb group resource[/sub] namespace name", or "verb path". "-" means an
// empty field.
func parseAttributes(caller, text string) authz.Attributes {
	fields := strings.Fields(text)
	a := authz.Attributes{User: user(caller), Verb: fields[0]}
	if len(fields) == 2 {
		a.Path = fields[1]
		return a
	}
	part := func(i int) string {
		if i >= len(fields) || fields[i] == "-" {
			return ""
		}
		return fields[i]
	}
	a.ResourceRequest, a.Version, a.Group = true, "v1", strings.TrimPrefix(part(1), "core")
	a.Resource, a.Subresource, _ = strings.Cut(part(2), "/")
	a.Namespace, a.Name = part(3), part(4)
	return a
}

func isAllowed(a *rbac.Authorizer, caller, text string) bool {
	d, _ := a.Authorize(parseAttributes(caller, text))
	return d == authz.Allow
}

func readCases[T any](t *testing.T, name string) (all []T) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(text, &all)
	}
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: no cases, %v", name, err)
	}
	return all
}

func count(o tree.Tree, field string) int { return len(o.List(field)) }
