package policy_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// A pluginCluster holds objects by "resource namespace/name". Objects added later can be read but
// do not reach caches.
type pluginCluster struct {
	t       *testing.T
	mu      sync.Mutex // guards objects
	objects map[string]tree.Tree
}

func newCluster(t *testing.T, objects map[string]string) *pluginCluster {
	t.Helper()
	c := &pluginCluster{t: t, objects: map[string]tree.Tree{}}
	for key, text := range objects {
		c.put(key, text)
	}
	return c
}

func (c *pluginCluster) put(key, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[key] = parseTree(c.t, text)
}

func (c *pluginCluster) Get(r meta.GroupResource, namespace, name string) *policy.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.objects[r.String()+" "+namespace+"/"+name]
	if !ok {
		return nil
	}
	return &policy.Object{Key: meta.Key{GroupResource: r, Namespace: namespace, Name: name}, Tree: o}
}

func (c *pluginCluster) GetMeta(r meta.GroupResource, namespace, name string) (head meta.ObjectMeta, ok bool) {
	o := c.Get(r, namespace, name)
	if o == nil {
		return head, false
	}
	labels := o.Tree.Object("metadata", "labels")
	for _, key := range labels.SortedKeys() {
		head.Labels = append(head.Labels, meta.Label{Key: key, Value: labels.String(key)})
	}
	return head, true
}

func (c *pluginCluster) Inform(_ context.Context, r meta.GroupResource, onChange func(policy.Change)) error {
	for key := range c.objects {
		if resource, path, _ := strings.Cut(key, " "); resource == r.String() {
			namespace, name, _ := strings.Cut(path, "/")
			onChange(policy.Change{Object: c.Get(r, namespace, name)})
		}
	}
	return nil
}

// An attempt is a change for a plugin. An empty resource means "/pods".
type attempt struct {
	name, resource, old, new string
	reinvocation             bool
	want                     string // New afterwards; "" if unchanged
	fault                    string // the complete reason of a refusal
}

// chainOf returns a chain of one plugin that follows the cluster.
func chainOf(t *testing.T, c *pluginCluster, naming *meta.Naming, registrations ...admission.Registration) *admission.Chain {
	t.Helper()
	chain := admission.New(naming, admission.PluginConfig{Enabled: []string{registrations[0].Name}}, registrations)
	for _, follower := range chain.Caches() {
		if err := follower.Follow(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	return chain
}

// try runs attempts on objects named ns/x.
func try(t *testing.T, chain *admission.Chain, attempts []attempt) {
	t.Helper()
	for _, a := range attempts {
		if a.resource == "" {
			a.resource = "/pods"
		}
		parts := append(strings.SplitN(a.resource, "/", 3), "")
		k := kind(parts[0], parts[1])
		m := &request.Mutation{Kind: k, Subresource: parts[2], Key: meta.Key{Namespace: "ns", Name: "x"}}
		if m.Admission = chain.For(nil, k, parts[2], "ns"); m.Admission == nil {
			t.Errorf("%s: nothing runs", a.name)
			continue
		}
		change := request.NewAttributes(t.Context(), m, parseTree(t, a.old), parseTree(t, a.new))
		change.Reinvocation = a.reinvocation
		share(change.New, change.Old)
		err := change.Admit(request.InTurn)
		if err == nil {
			err = change.Validate(request.InTurn)
		}
		reason := ""
		if err != nil {
			_, reason, _ = strings.Cut(err.Error(), " is forbidden: ")
		}
		want := a.want
		if want == "" {
			want = a.new
		}
		switch got := canonical(change.New); {
		case reason != a.fault || err != nil && reason == "":
			t.Errorf("%s: %v, want %q", a.name, err, a.fault)
		case err == nil && got != canonical(parseTree(t, want)):
			t.Errorf("%s: got  %s\nwant %s", a.name, got, canonical(parseTree(t, want)))
		}
		if got := canonical(change.Old); got != canonical(parseTree(t, a.old)) {
			t.Errorf("%s: the old state became %s", a.name, got)
		}
	}
}

func canonical(t tree.Tree) string { return string(codec.AppendAny(nil, t)) }

// pod returns a Pod with a spec given without braces; its container c has image i.
func pod(spec string) string {
	if spec != "" {
		spec = "," + spec
	}
	return fmt.Sprintf(`{"metadata":{},"spec":{"containers":[{"name":"c","image":"i"}]%s}}`, spec)
}
