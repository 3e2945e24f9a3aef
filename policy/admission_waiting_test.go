package policy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
)

// admissionRecorder is a plugin of all sorts that notes its name and what it is asked.
type admissionRecorder struct {
	name   string
	only   string // the resource that it selects; "" for all
	skips  bool   // changes that it does not wait for
	refuse bool
	steps  *[]string
}

func (r admissionRecorder) step(what string) { *r.steps = append(*r.steps, r.name+" "+what) }

func (r admissionRecorder) Admit(*admission.Attributes) error    { r.step("admits"); return nil }
func (r admissionRecorder) Validate(*admission.Attributes) error { r.step("validates"); return nil }

// waiter is the recorder as a WaitingPlugin.
type waiter struct{ admissionRecorder }

func (w waiter) Selects(k *schema.Kind, _ string) bool { return w.only == "" || k.Resource == w.only }
func (w waiter) Applies(*admission.Attributes) bool    { return !w.skips }
func (w waiter) Begin() admission.WaitingCall          { return w }
func (w waiter) Mutate(context.Context, *admission.Attributes) error {
	w.step("mutates")
	return nil
}

func (w waiter) Validate(_ context.Context, a *admission.Attributes) error {
	w.step("validates")
	if w.refuse {
		return a.Forbidden("no")
	}
	return nil
}

// reserver is the recorder as a Reserver.
type reserver struct{ admissionRecorder }

func (r reserver) Reserve(a *admission.Attributes) (*request.Reservation, error) {
	r.step("reserves")
	if r.refuse {
		return nil, a.Forbidden("no")
	}
	return &request.Reservation{OnCommit: func() { r.step("commits") }, OnRelease: func() { r.step("releases") }}, nil
}

// A plugin runs for its operations, its users and its resources, in the order of registration.
func TestRegistrationSelects(t *testing.T) {
	var steps []string
	jane := func(u *authn.User) bool { return u != nil && u.Name == "jane" }
	chain := admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
		{Resources: []string{"*"}, Plugin: admissionRecorder{name: "all", steps: &steps}, Operations: []request.Verb{request.Delete}},
		{Resources: []string{"/pods"}, Plugin: admissionRecorder{name: "pods", steps: &steps}},
		{Resources: []string{"/pods", "/pods/status"}, Plugin: admissionRecorder{name: "jane", steps: &steps}, Users: jane, Operations: []request.Verb{request.Create, request.Update}},
	})
	some := tree.Tree{}
	create, update, remove := request.Change{New: some}, request.Change{Old: some, New: some}, request.Change{Old: some}
	for _, c := range []struct {
		user, resource, sub string
		change              request.Change
		want                string
	}{
		{"jane", "pods", "", create, "pods admits, jane admits, pods validates, jane validates"},
		{"jane", "pods", "", remove, "all admits, pods admits, all validates, pods validates"},
		{"joe", "pods", "", update, "pods admits, pods validates"},
		{"joe", "pods", "status", update, ""},
		{"jane", "pods", "status", update, "jane admits, jane validates"},
		{"joe", "nodes", "", create, ""},
		{"joe", "nodes", "status", remove, "all admits, all validates"},
	} {
		steps = nil
		user, k := &authn.User{Name: c.user}, kind("", c.resource)
		c.change.Mutation = &request.Mutation{Kind: k, Subresource: c.sub}
		a, operation := chain.For(user, request.Update, k, c.sub, meta.Key{}), c.change.Operation()
		if applies := a != nil && a.Applies(operation); applies != (c.want != "") {
			t.Errorf("%v: applies %t", c, applies)
		}
		if a != nil {
			if err := a.Admit(c.change); err != nil {
				t.Error(err)
			}
			if err := a.Validate(c.change); err != nil {
				t.Error(err)
			}
		}
		if got := strings.Join(steps, ", "); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
}

// Waiting plugins are asked one after another. Where none selects a resource there is none.
func TestWaitingPlugins(t *testing.T) {
	var steps []string
	chain := func(refuse bool) *admission.Chain {
		return admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
			{Resources: []string{"*"}, Waiting: waiter{admissionRecorder{name: "a", only: "pods", steps: &steps}}},
			{Resources: []string{"/pods"}, Waiting: waiter{admissionRecorder{name: "b", skips: true, steps: &steps}}},
			{Resources: []string{"/pods"}, Waiting: waiter{admissionRecorder{name: "c", steps: &steps}}, Operations: []request.Verb{request.Delete}},
			{Resources: []string{"/pods"}, Waiting: waiter{admissionRecorder{name: "d", refuse: refuse, steps: &steps}}},
		})
	}
	if w := chain(false).Waiting(nil, kind("", "nodes"), "", ""); w != nil || chain(false).AppliesToNoOp(nil, kind("", "nodes"), "", "") {
		t.Errorf("nodes wait for %v", w)
	}
	if w := (*admission.Chain)(nil).Waiting(nil, kind("", "pods"), "", ""); w != nil {
		t.Errorf("without a chain Pods wait for %v", w)
	}
	if a := chain(false).For(nil, request.Update, kind("", "pods"), "", meta.Key{}); a != nil || !chain(false).AppliesToNoOp(nil, kind("", "pods"), "", "x") {
		t.Errorf("waiting plugins run in the owner's turn: %v", a)
	}
	for _, c := range []struct {
		refuse bool
		want   string
	}{
		{false, "a mutates, d mutates, a validates, d validates"},
		{true, "a mutates, d mutates, a validates, d validates"},
	} {
		steps = nil
		change := request.Change{New: tree.Tree{}, Mutation: &request.Mutation{Kind: kind("", "pods")}}
		w := chain(c.refuse).Waiting(nil, change.Mutation.Kind, "", "x")
		if !w.Applies(change) {
			t.Error("it does not apply")
		}
		call := w.Begin()
		err, refused := call.Mutate(t.Context(), change), call.Validate(t.Context(), change)
		if err != nil || (refused != nil) != c.refuse {
			t.Errorf("%v; %v", err, refused)
		}
		if got := strings.Join(steps, ", "); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// What some plugins have reserved is released when a later one refuses, and kept or released as one.
func TestReservers(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		var steps []string
		chain := admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
			{Resources: []string{"/pods"}, Plugin: reserver{admissionRecorder{name: "a", steps: &steps}}},
			{Resources: []string{"/pods"}, Plugin: admissionRecorder{name: "b", steps: &steps}},
			{Resources: []string{"/pods"}, Plugin: reserver{admissionRecorder{name: "c", refuse: refuse, steps: &steps}}},
		})
		k := kind("", "pods")
		change := request.Change{New: tree.Tree{}, Mutation: &request.Mutation{Kind: k}}
		reserved, err := chain.For(nil, request.Update, k, "", meta.Key{}).Reserve(change)
		want := "a reserves, c reserves, a releases"
		if !refuse {
			reserved.Commit()
			want = "a reserves, c reserves, a commits, c commits"
		}
		if got := strings.Join(steps, ", "); (err != nil) != refuse || got != want {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	}
}

// A plugin that has nothing to do in a namespace is none there, and one that does not care for updates that change nothing
// does not keep a repeated apply from being answered at once.
func TestNamespacesAndNoOps(t *testing.T) {
	var steps []string
	k := kind("", "pods")
	only := func(namespace string) bool { return namespace == "x" }
	chain := admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
		{Resources: []string{"/pods"}, Plugin: admissionRecorder{name: "skips", steps: &steps}, SkipsNoOps: true},
		{Resources: []string{"/pods"}, Plugin: admissionRecorder{name: "x", steps: &steps}, Namespaces: only},
		{Resources: []string{"/pods"}, Plugin: admissionRecorder{name: "creates", steps: &steps}, Operations: []request.Verb{request.Create}},
		{Resources: []string{"/pods"}, Waiting: waiter{admissionRecorder{name: "waits", steps: &steps}}, Namespaces: only},
	})
	for namespace, want := range map[string]string{"x": "skips admits, x admits", "y": "skips admits"} {
		steps = nil
		a := chain.For(nil, request.Update, k, "", meta.Key{Namespace: namespace})
		if err := a.Admit(request.Change{Old: tree.Tree{}, New: tree.Tree{}, Mutation: &request.Mutation{Kind: k}}); err != nil {
			t.Error(err)
		}
		inX := namespace == "x"
		if waits := chain.Waiting(nil, k, "", namespace) != nil; waits != inX || chain.AppliesToNoOp(nil, k, "", namespace) != inX || a.AppliesToNoOp() != inX {
			t.Errorf("%s: waits %t, no-ops %t %t", namespace, waits, chain.AppliesToNoOp(nil, k, "", namespace), a.AppliesToNoOp())
		}
		if got := strings.Join(steps, ", "); got != want {
			t.Errorf("%s: %s, want %s", namespace, got, want)
		}
	}
}

// admissionSharing is a plugin that only validates; it notes whether what it sees is the very tree that was asked for.
type admissionSharing struct{ seen *tree.Tree }

func (s admissionSharing) Validate(a *admission.Attributes) error { *s.seen = a.New; return nil }

// Only plugins that look at changes before validation may change them, so others need no copy of a body.
func TestMayChange(t *testing.T) {
	var steps []string
	var seen tree.Tree
	checks := admission.Registration{Resources: []string{"*"}, Plugin: admissionSharing{&seen}}
	admits := admission.Registration{Resources: []string{"*"}, Operations: []request.Verb{request.Update}, Plugin: admissionRecorder{name: "a", steps: &steps}}
	k := kind("", "pods")
	for _, c := range []struct {
		registrations  []admission.Registration
		create, update bool
	}{
		{[]admission.Registration{checks}, false, false},
		{[]admission.Registration{checks, admits}, false, true},
	} {
		a := admission.New(meta.Platform, admission.PluginConfig{}, c.registrations).For(nil, request.Create, k, "", meta.Key{})
		if create, update := a.MayChange(request.Create), a.MayChange(request.Update); create != c.create || update != c.update || !a.Applies(request.Create) {
			t.Errorf("%d plugins: may change a create %t, an update %t", len(c.registrations), create, update)
		}
		object := tree.Tree{"x": "y"}
		change := request.Change{New: object, Mutation: &request.Mutation{Kind: k}}
		if err := errors.Join(a.Admit(change), a.Validate(change)); err != nil || !tree.SameRef(seen, object) {
			t.Errorf("%v, seen %v", err, seen)
		}
	}
}
