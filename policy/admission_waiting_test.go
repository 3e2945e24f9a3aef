package policy_test

import (
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

type admissionRecorder struct {
	name   string
	skips  bool // Handles returns false
	refuse bool // Validate fails
	steps  *[]string
}

func (r admissionRecorder) step(label string) { *r.steps = append(*r.steps, r.name+" "+label) }

func (r admissionRecorder) Handles(*request.Attributes) bool { return !r.skips }

func (r admissionRecorder) Admit(*request.Attributes) error { r.step("admits"); return nil }

func (r admissionRecorder) Validate(a *request.Attributes) error {
	r.step("validates")
	if r.refuse {
		return a.Forbidden("no")
	}
	return nil
}

func (r admissionRecorder) plugin(stage request.Stage, operations request.Operation) request.Plugin {
	return request.Plugin{Stage: stage, Operations: operations, Mutator: r, Validator: r}
}

type reserver struct{ admissionRecorder }

func (r reserver) Validate(a *request.Attributes) error {
	r.step("reserves")
	if r.refuse {
		return a.Forbidden("no")
	}
	a.Reserve(&request.Reservation{OnCommit: func() { r.step("commits") }, OnRelease: func() { r.step("releases") }})
	return nil
}

func TestRegistrationSelects(t *testing.T) {
	var steps []string
	jane := func(u *authn.User) bool { return u != nil && u.Name == "jane" }
	chain := admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
		{Resources: []string{"*"}, Plugin: admissionRecorder{name: "all", steps: &steps}.plugin(request.InTurn, request.OnDelete)},
		{Resources: []string{"/pods"}, Plugin: admissionRecorder{name: "pods", steps: &steps}.plugin(request.InTurn, 0)},
		{Resources: []string{"/pods", "/pods/status"}, Users: jane, Plugin: admissionRecorder{name: "jane", steps: &steps}.plugin(request.InTurn, request.OnCreate|request.OnUpdate)},
	})
	some := tree.Tree{}
	create, update, remove := [2]tree.Tree{nil, some}, [2]tree.Tree{some, some}, [2]tree.Tree{some, nil}
	for _, c := range []struct {
		user, resource, sub string
		change              [2]tree.Tree // old and new
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
		m := &request.Mutation{Kind: k, Subresource: c.sub, Admission: chain.For(user, k, c.sub, "")}
		a := request.NewAttributes(t.Context(), m, c.change[0], c.change[1])
		if applies := m.Admits(a.Operation); applies != (c.want != "") {
			t.Errorf("%v: applies %t", c, applies)
		}
		if err := errors.Join(a.Admit(request.InTurn), a.Validate(request.InTurn)); err != nil {
			t.Error(err)
		}
		if got := strings.Join(steps, ", "); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
}

func TestBlockingPlugins(t *testing.T) {
	var steps []string
	chain := func(refuse bool) *admission.Chain {
		plugin := func(r admissionRecorder, operations request.Operation) request.Plugin {
			r.steps = &steps
			return r.plugin(request.MayBlock, operations)
		}
		return admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
			{Resources: []string{"*"}, Selects: func(k *schema.Kind, _ string) bool { return k.Resource == "pods" }, Plugin: plugin(admissionRecorder{name: "a"}, 0)},
			{Resources: []string{"/pods"}, Plugin: plugin(admissionRecorder{name: "b", skips: true}, 0)},
			{Resources: []string{"/pods"}, Plugin: plugin(admissionRecorder{name: "c"}, request.OnDelete)},
			{Resources: []string{"/pods"}, Plugin: plugin(admissionRecorder{name: "d", refuse: refuse}, 0)},
		})
	}
	if a := chain(false).For(nil, kind("", "nodes"), "", ""); a != nil || chain(false).AppliesToNoOp(nil, kind("", "nodes"), "", "") {
		t.Errorf("nodes have to pass %v", a)
	}
	if a := (*admission.Chain)(nil).For(nil, kind("", "pods"), "", ""); a != nil {
		t.Errorf("without a chain Pods have to pass %v", a)
	}
	if !chain(false).AppliesToNoOp(nil, kind("", "pods"), "", "x") {
		t.Error("no-ops pass")
	}
	for _, refuse := range []bool{false, true} {
		steps = nil
		k := kind("", "pods")
		a := request.NewAttributes(t.Context(), &request.Mutation{Kind: k, Admission: chain(refuse).For(nil, k, "", "x")}, nil, tree.Tree{})
		if !a.Waits() {
			t.Error("it does not wait")
		}
		if err := errors.Join(a.Admit(request.InTurn), a.Validate(request.InTurn)); err != nil || len(steps) > 0 {
			t.Errorf("in turn run %q, %v", steps, err)
		}
		err, refused := a.Admit(request.MayBlock), a.Validate(request.MayBlock)
		if err != nil || (refused != nil) != refuse {
			t.Errorf("%v; %v", err, refused)
		}
		if got, want := strings.Join(steps, ", "), "a admits, d admits, a validates, d validates"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestReservers(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		var steps []string
		last := func(name string, refuse bool) request.Plugin {
			return request.Plugin{Stage: request.Last, Validator: reserver{admissionRecorder{name: name, refuse: refuse, steps: &steps}}}
		}
		chain := admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
			{Resources: []string{"/pods"}, Plugin: last("a", false)},
			{Resources: []string{"/pods"}, Plugin: admissionRecorder{name: "b", steps: &steps}.plugin(request.InTurn, 0)},
			{Resources: []string{"/pods"}, Plugin: last("c", refuse)},
		})
		k := kind("", "pods")
		reserved, err := request.NewAttributes(t.Context(), &request.Mutation{Kind: k, Admission: chain.For(nil, k, "", "")}, nil, tree.Tree{}).AdmitLast()
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

func TestNamespacesAndNoOps(t *testing.T) {
	var steps []string
	k := kind("", "pods")
	only := func(namespace string) bool { return namespace == "x" }
	chain := admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
		{Resources: []string{"/pods"}, Plugin: request.Plugin{Mutator: admissionRecorder{name: "skips", steps: &steps}, SkipsNoOps: true}},
		{Resources: []string{"/pods"}, Plugin: admissionRecorder{name: "x", steps: &steps}.plugin(request.InTurn, 0), Namespaces: only},
		{Resources: []string{"/pods"}, Plugin: admissionRecorder{name: "creates", steps: &steps}.plugin(request.InTurn, request.OnCreate)},
		{Resources: []string{"/pods"}, Plugin: admissionRecorder{name: "waits", steps: &steps}.plugin(request.MayBlock, 0), Namespaces: only},
	})
	for namespace, want := range map[string]string{"x": "skips admits, x admits", "y": "skips admits"} {
		steps = nil
		m := &request.Mutation{Kind: k, Admission: chain.For(nil, k, "", namespace)}
		if err := request.NewAttributes(t.Context(), m, tree.Tree{}, tree.Tree{}).Admit(request.InTurn); err != nil {
			t.Error(err)
		}
		inX := namespace == "x"
		if waits := m.Admission.MayBlock(); waits != inX || chain.AppliesToNoOp(nil, k, "", namespace) != inX || m.AdmitsNoOp() != inX {
			t.Errorf("%s: waits %t, no-ops %t %t", namespace, waits, chain.AppliesToNoOp(nil, k, "", namespace), m.AdmitsNoOp())
		}
		if got := strings.Join(steps, ", "); got != want {
			t.Errorf("%s: %s, want %s", namespace, got, want)
		}
	}
}

type admissionSharing struct {
	request.HandlesAll
	seen *tree.Tree
}

func (s admissionSharing) Validate(a *request.Attributes) error { *s.seen = a.New; return nil }

// TestMayChange checks that MayBeChanged returns true only for operations with a registered
// mutator. Validators must get the original tree, not a copy.
func TestMayChange(t *testing.T) {
	var steps []string
	var seen tree.Tree
	checks := admission.Registration{Resources: []string{"*"}, Plugin: request.Plugin{Validator: admissionSharing{seen: &seen}}}
	admits := admission.Registration{Resources: []string{"*"}, Plugin: admissionRecorder{name: "a", steps: &steps}.plugin(request.InTurn, request.OnUpdate)}
	k := kind("", "pods")
	for _, c := range []struct {
		registrations  []admission.Registration
		create, update bool
	}{
		{[]admission.Registration{checks}, false, false},
		{[]admission.Registration{checks, admits}, false, true},
	} {
		m := &request.Mutation{Kind: k, Admission: admission.New(meta.Platform, admission.PluginConfig{}, c.registrations).For(nil, k, "", "")}
		if create, update := m.MayBeChanged(request.OnCreate), m.MayBeChanged(request.OnUpdate); create != c.create || update != c.update || !m.Admits(request.OnCreate) {
			t.Errorf("%d plugins: may change a create %t, an update %t", len(c.registrations), create, update)
		}
		object := tree.Tree{"x": "y"}
		a := request.NewAttributes(t.Context(), m, nil, object)
		if err := errors.Join(a.Admit(request.InTurn), a.Validate(request.InTurn)); err != nil || !tree.SameRef(seen, object) {
			t.Errorf("%v, seen %v", err, seen)
		}
	}
}
