package admission_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
)

// recorder is a plugin of all sorts that notes its name and what it is asked.
type recorder struct {
	name   string
	only   string // the resource that it selects; "" for all
	skips  bool   // changes that it does not wait for
	refuse bool
	steps  *[]string
}

func (r recorder) step(what string) { *r.steps = append(*r.steps, r.name+" "+what) }

func (r recorder) Admit(*admission.Attributes) error    { r.step("admits"); return nil }
func (r recorder) Validate(*admission.Attributes) error { r.step("validates"); return nil }

// waiter is the recorder as a WaitingPlugin.
type waiter struct{ recorder }

func (w waiter) Selects(k *schema.Kind, _ string) bool { return w.only == "" || k.Resource == w.only }
func (w waiter) Applies(*admission.Attributes) bool    { return !w.skips }
func (w waiter) Mutate(context.Context, *admission.Attributes) ([]string, error) {
	w.step("mutates")
	return []string{w.name}, nil
}

func (w waiter) Validate(_ context.Context, a *admission.Attributes) (request.Verdict, error) {
	w.step("validates")
	if w.refuse {
		return request.Verdict{}, a.Forbidden("no")
	}
	return request.Verdict{Warnings: []string{w.name}, Reservation: w}, nil
}
func (w waiter) Commit()  { w.step("commits") }
func (w waiter) Release() { w.step("releases") }

// A plugin runs for its operations, its users and its resources, in the order of registration.
func TestRegistrationSelects(t *testing.T) {
	var steps []string
	jane := func(u *authn.User) bool { return u != nil && u.Name == "jane" }
	chain := admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
		{Resources: []string{"*"}, Plugin: recorder{name: "all", steps: &steps}, Operations: []request.Verb{request.Delete}},
		{Resources: []string{"/pods"}, Plugin: recorder{name: "pods", steps: &steps}},
		{Resources: []string{"/pods", "/pods/status"}, Plugin: recorder{name: "jane", steps: &steps}, Users: jane, Operations: []request.Verb{request.Create, request.Update}},
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
		a, operation := chain.For(user, k, c.sub, meta.Key{}), c.change.Operation()
		applies := a != nil && a.Applies(operation)
		if applies != (c.want != "") || chain.Applies(user, k, c.sub, operation) != applies {
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
			{Resources: []string{"*"}, Waiting: waiter{recorder{name: "a", only: "pods", steps: &steps}}},
			{Resources: []string{"/pods"}, Waiting: waiter{recorder{name: "b", skips: true, steps: &steps}}},
			{Resources: []string{"/pods"}, Waiting: waiter{recorder{name: "c", steps: &steps}}, Operations: []request.Verb{request.Delete}},
			{Resources: []string{"/pods"}, Waiting: waiter{recorder{name: "d", refuse: refuse, steps: &steps}}},
		})
	}
	if w := chain(false).Waiting(nil, kind("", "nodes"), ""); w != nil || chain(false).Applies(nil, kind("", "nodes"), "", request.Update) {
		t.Errorf("nodes wait for %v", w)
	}
	if w := (*admission.Chain)(nil).Waiting(nil, kind("", "pods"), ""); w != nil {
		t.Errorf("without a chain Pods wait for %v", w)
	}
	if a := chain(false).For(nil, kind("", "pods"), "", meta.Key{}); a != nil || !chain(false).Applies(nil, kind("", "pods"), "", request.Update) {
		t.Errorf("waiting plugins run in the owner's turn: %v", a)
	}
	for _, c := range []struct {
		refuse bool
		want   string
	}{
		{false, "a mutates, d mutates, a validates, d validates, a commits, d commits"},
		{true, "a mutates, d mutates, a validates, d validates, a releases"},
	} {
		steps = nil
		change := request.Change{New: tree.Tree{}, Mutation: &request.Mutation{Kind: kind("", "pods")}}
		w := chain(c.refuse).Waiting(nil, change.Mutation.Kind, "")
		if !w.Applies(change) {
			t.Error("it does not apply")
		}
		warnings, err := w.Mutate(t.Context(), change)
		verdict, refused := w.Validate(t.Context(), change)
		if err != nil || (refused != nil) != c.refuse || fmt.Sprint(warnings) != "[a d]" || refused == nil && fmt.Sprint(verdict.Warnings) != "[a d]" {
			t.Errorf("%v %v; %v %v", warnings, err, verdict, refused)
		}
		verdict.Conclude(true)
		if got := strings.Join(steps, ", "); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
