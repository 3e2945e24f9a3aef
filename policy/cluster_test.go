package policy_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// A fakeCluster is an in-memory policy.Objects, keyed by "resource namespace/name".
type fakeCluster struct {
	mu        sync.Mutex // guards the fields below
	objects   map[string]*policy.Object
	followers map[string][]func(policy.Change) // by resource
}

func newCluster(t testing.TB, objects map[string]object) *fakeCluster {
	t.Helper()
	c := &fakeCluster{objects: map[string]*policy.Object{}, followers: map[string][]func(policy.Change){}}
	for key, text := range objects {
		c.set(t, key, string(text))
	}
	return c
}

// set stores the object at "resource namespace/name", or "resource /name" for a cluster-scoped
// resource. An empty text deletes it.
func (c *fakeCluster) set(t testing.TB, key, text string) {
	t.Helper()
	resource, path, _ := strings.Cut(key, " ")
	namespace, name, _ := strings.Cut(path, "/")
	o := &policy.Object{Key: meta.Key{GroupResource: meta.GroupResource{Resource: resource}, Namespace: namespace, Name: name}, Tree: parseTree(t, text)}
	metadata := o.Tree.Object("metadata")
	o.Meta.UID, o.Meta.Terminating = metadata.String("uid"), metadata.Has("deletionTimestamp")
	for _, key := range metadata.Object("labels").SortedKeys() {
		o.Meta.Labels = append(o.Meta.Labels, meta.Label{Key: key, Value: metadata.Object("labels").String(key)})
	}
	c.mu.Lock()
	if c.objects[key] = o; text == "" {
		delete(c.objects, key)
	}
	followers := c.followers[resource]
	c.mu.Unlock()
	for _, onChange := range followers {
		onChange(policy.Change{Object: o, Deleted: text == ""})
	}
}

func (c *fakeCluster) Get(r meta.GroupResource, namespace, name string) *policy.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects[r.Resource+" "+namespace+"/"+name]
}

func (c *fakeCluster) GetMeta(r meta.GroupResource, namespace, name string) (meta.ObjectMeta, bool) {
	if o := c.Get(r, namespace, name); o != nil {
		return o.Meta, true
	}
	return meta.ObjectMeta{}, false
}

func (c *fakeCluster) Inform(_ context.Context, r meta.GroupResource, onChange func(policy.Change)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.followers[r.Resource] = append(c.followers[r.Resource], onChange)
	for _, o := range c.objects {
		if o.Key.Resource == r.Resource {
			onChange(policy.Change{Object: o})
		}
	}
	return nil
}

func kind(group, resource string) *schema.Kind {
	return &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Group: group, Version: "v1"}, Resource: resource, Storage: meta.GroupResource{Group: group, Resource: resource}}
}

var jane = &authn.User{Name: "jane", UID: "u1", Groups: []string{"dev"}, Extra: map[string][]string{"k": {"v"}}}

type authorizerFunc func(authz.Attributes) (authz.Decision, string)

func (f authorizerFunc) Authorize(a authz.Attributes) (authz.Decision, string) { return f(a) }

var decisions = map[string]authz.Decision{"": authz.NoOpinion, "allow": authz.Allow, "deny": authz.Deny, "failed": authz.Failed}
