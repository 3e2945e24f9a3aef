package policy_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// permissions allows "verb group/resource/sub-resource namespace/name".
type permissions []string

func (p permissions) Authorize(a authz.Attributes) (authz.Decision, string) {
	if slices.Contains(p, a.Verb+" "+a.Group+"/"+a.Resource+"/"+a.Subresource+" "+a.Namespace+"/"+a.Name) {
		return authz.Allow, ""
	}
	return authz.NoOpinion, "no role"
}

// storedObjects holds all objects of each resource.
type storedObjects struct {
	policy.Objects
	list []*policy.Object
}

func (s storedObjects) Inform(_ context.Context, _ meta.GroupResource, onChange func(policy.Change)) error {
	for _, o := range s.list {
		onChange(policy.Change{Object: o})
	}
	return nil
}

// objectsOf parses objects by name.
func objectsOf(t *testing.T, objects map[string]string) (s storedObjects) {
	for name, text := range objects {
		s.list = append(s.list, &policy.Object{Key: meta.Key{Name: name}, Tree: parseTree(t, text)})
	}
	return s
}

func kind(group, resource string) *schema.Kind {
	return &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Group: group, Version: "v1"}, Resource: resource, Storage: meta.GroupResource{Group: group, Resource: resource}}
}

// parseTree parses an object; it returns nil for "".
func parseTree(t *testing.T, text string) tree.Tree {
	t.Helper()
	if text == "" {
		return nil
	}
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.(tree.Tree)
}

var jane = &authn.User{Name: "jane", UID: "u1", Groups: []string{"dev"}, Extra: map[string][]string{"k": {"v"}}}

// An admissionTest is a change of ns/o by jane with its expected result. The resource is
// "group/resource" or "group/resource/sub-resource".
type admissionTest struct {
	name, resource, old, new string
	want, fault              string // want is New afterwards, if changed
}

func (c admissionTest) run(t *testing.T, chain *admission.Chain) {
	t.Helper()
	old, wanted := parseTree(t, c.old), parseTree(t, c.new)
	share(wanted, old)
	err := admit(t, chain, c.resource, old, wanted, &request.Mutation{})
	switch {
	case c.fault != "":
		if err == nil || !strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), "forbidden") {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.fault)
		}
	case err != nil:
		t.Errorf("%s: %v", c.name, err)
	default:
		want := c.want
		if want == "" {
			want = toJSON(t, parseTree(t, c.new))
		}
		if got := toJSON(t, wanted); got != want {
			t.Errorf("%s: got %s, want %s", c.name, got, want)
		}
		if got, want := toJSON(t, old), toJSON(t, parseTree(t, c.old)); got != want {
			t.Errorf("%s: the old state became %s", c.name, got)
		}
	}
}

// share reuses equal parts of the old state, as updates do.
func share(wanted, old tree.Tree) {
	for name := range wanted {
		if name != "metadata" {
			wanted[name] = sharingPlugins(wanted[name], old[name])
		}
	}
}

// sharingPlugins returns v with the parts that equal those of old shared.
func sharingPlugins(v, old any) any {
	if tree.StrictEqual(v, old) {
		return old
	}
	switch v := v.(type) {
	case tree.Tree:
		old, _ := old.(tree.Tree)
		for name := range v {
			v[name] = sharingPlugins(v[name], old[name])
		}
	case []any:
		old, _ := old.([]any)
		for i := range min(len(v), len(old)) {
			v[i] = sharingPlugins(v[i], old[i])
		}
	}
	return v
}

// admit runs all plugins of a chain, including those at MayBlock.
func admit(t *testing.T, chain *admission.Chain, resource string, old, wanted tree.Tree, m *request.Mutation) error {
	t.Helper()
	parts := append(strings.SplitN(resource, "/", 3), "")
	m.Kind, m.Subresource, m.Key = kind(parts[0], parts[1]), parts[2], meta.Key{Namespace: "ns", Name: "o"}
	m.Admission = chain.For(jane, m.Kind, m.Subresource, m.Key.Namespace)
	a := request.NewAttributes(t.Context(), m, old, wanted)
	for _, step := range []func(request.Stage) error{a.Admit, a.Validate} {
		if err := step(request.InTurn); err != nil {
			return err
		}
	}
	if a.Waits() {
		for _, step := range []func(request.Stage) error{a.Admit, a.Validate} {
			if err := step(request.MayBlock); err != nil {
				return err
			}
		}
	}
	_, err := a.AdmitLast()
	return err
}

// newChain enables all plugins and fills their caches with objects.
func newChain(t *testing.T, objects storedObjects, all ...admission.Registration) *admission.Chain {
	t.Helper()
	var switches admission.PluginConfig
	for _, r := range all {
		if r.Name != "" {
			switches.Enabled = append(switches.Enabled, r.Name)
		}
	}
	chain := admission.New(meta.Platform, switches, all)
	for _, c := range chain.Caches() {
		if err := c.Follow(t.Context(), objects); err != nil {
			t.Fatal(err)
		}
	}
	return chain
}
