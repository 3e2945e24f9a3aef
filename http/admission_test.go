package http_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authz"
)

// A noteTaker is both an admission plugin and a store. It records calls of Admit and NoOpApply,
// and whether its reservations are committed or released.
type noteTaker struct {
	*memStore
	mu    sync.Mutex
	notes []string
}

func (n *noteTaker) note(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notes = append(n.notes, text)
}

func (n *noteTaker) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer func() { n.notes = nil }()
	return strings.Join(n.notes, ", ")
}

func (*noteTaker) History(context.Context, request.History) (request.HistoryResult, error) {
	return request.HistoryResult{}, nil
}

func (n *noteTaker) NoOpApply(request.Mutation, func() meta.Digest) (request.Result, bool) {
	n.note("no-op?")
	return request.Result{}, false
}

func (*noteTaker) Handles(*request.Attributes) bool  { return true }
func (n *noteTaker) Admit(*request.Attributes) error { n.note("admit"); return nil }
func (n *noteTaker) Validate(a *request.Attributes) error {
	a.Reserve(&request.Reservation{OnCommit: func() { n.note("commit") }, OnRelease: func() { n.note("release") }})
	return nil
}

type blockingNotes struct{ *noteTaker }

func (n blockingNotes) Admit(a *request.Attributes) error {
	n.note("mutate " + a.Subresource)
	return nil
}

func (n blockingNotes) Validate(a *request.Attributes) error {
	a.Warn("careful")
	return nil
}

// TestOperationWaitsForAdmission checks that an operation is admitted like a write, and that its
// reservations are committed if it succeeds.
func TestOperationWaitsForAdmission(t *testing.T) {
	n := &noteTaker{}
	var fail error
	f := serve(t, func(o *http.Options) {
		n.memStore = o.Store.(*memStore)
		o.Admission = admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
			{Resources: []string{"/pods/eviction"}, Plugin: request.Plugin{Mutator: n}},
			{Resources: []string{"/pods/eviction"}, Plugin: request.Plugin{Stage: request.MayBlock, Mutator: blockingNotes{n}, Validator: blockingNotes{n}}},
			{Resources: []string{"/pods/eviction"}, Plugin: request.Plugin{Stage: request.Last, Validator: n}},
		})
		o.Operations = map[string]http.Operation{"/v1/pods/eviction": {Answer: func(context.Context, http.OperationRequest) (tree.Tree, error) {
			n.note("evict")
			return nil, fail
		}}}
	})
	const path, body = "/api/v1/namespaces/x/pods/p/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`
	for _, c := range []struct {
		query string
		fail  error
		code  int
		notes string
	}{
		{"", nil, 201, "admit, mutate eviction, admit, mutate eviction, evict, commit"},
		{"?dryRun=All", nil, 201, "admit, mutate eviction, admit, mutate eviction, evict, release"},
		{"", meta.NewTooManyRequests("no", 1), 429, "admit, mutate eviction, admit, mutate eviction, evict, release"},
	} {
		fail = c.fail
		resp, text := f.do("POST", path+c.query, body, "Content-Type", "application/json")
		if got := n.take(); resp.StatusCode != c.code || got != c.notes || !strings.Contains(fmt.Sprint(resp.Header["Warning"]), "careful") {
			t.Errorf("%v: %d %s; %s, warnings %q", c, resp.StatusCode, text, got, resp.Header["Warning"])
		}
	}
}

type updatesOnly struct{ name string }

func (u updatesOnly) Authorize(a authz.Attributes) (authz.Decision, string) {
	if a.Verb == "create" && a.Name == u.name {
		return authz.NoOpinion, ""
	}
	return authz.Allow, ""
}

// TestApplyProvisionsNamespaces checks that an apply provisions no namespace unless the user may
// create the object.
func TestApplyProvisionsNamespaces(t *testing.T) {
	n := &noteTaker{}
	f := serve(t, func(o *http.Options) {
		n.memStore = o.Store.(*memStore)
		o.Authorizer = updatesOnly{"b"}
		o.Admission = admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{{Provision: func(_ context.Context, _ *schema.Kind, key meta.Key) error {
			n.note("provision " + key.Name)
			return nil
		}}})
	})
	for _, name := range []string{"a", "b"} {
		f.do("PATCH", "/api/v1/namespaces/x/configmaps/"+name+"?fieldManager=m",
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+name+`"}}`, "Content-Type", "application/apply-patch+yaml")
	}
	if got := n.take(); !strings.Contains(got, "provision a") || strings.Contains(got, "provision b") {
		t.Error(got)
	}
}

// TestAdmittedApplyIsNotSkipped checks that an apply takes the no-op shortcut (NoOpApply) only if
// no admission plugin handles it.
func TestAdmittedApplyIsNotSkipped(t *testing.T) {
	n := &noteTaker{}
	f := serve(t, func(o *http.Options) {
		n.memStore = o.Store.(*memStore)
		o.Store = n
		o.Admission = admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
			{Resources: []string{"/secrets"}, Plugin: request.Plugin{Mutator: n}},
			{Resources: []string{"/configmaps"}, Plugin: request.Plugin{Operations: request.OnCreate, Mutator: n}},
		})
	})
	for resource, want := range map[string]string{"configmaps": "no-op?", "secrets": "", "services": "no-op?"} {
		f.do("PATCH", "/api/v1/namespaces/x/"+resource+"/a?fieldManager=m", `{"apiVersion":"v1","kind":"X"}`, "Content-Type", "application/apply-patch+yaml")
		if got := n.take(); got != want {
			t.Errorf("%s: %q, want %q", resource, got, want)
		}
	}
}

// TestPatchChoosesItsAdmissionOnce checks that the admission plugins for a patch are selected once,
// and never for an unsupported patch type.
func TestPatchChoosesItsAdmissionOnce(t *testing.T) {
	n := &noteTaker{}
	f := serve(t, func(o *http.Options) {
		n.memStore = o.Store.(*memStore)
		o.Admission = admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
			{Resources: []string{"/configmaps"}, Plugin: request.Plugin{SkipsNoOps: true}, Namespaces: func(namespace string) bool {
				n.note("chosen in " + namespace)
				return true
			}},
		})
	})
	for contentType, want := range map[string]string{
		"application/apply-patch+yaml": "chosen in x", "application/merge-patch+json": "chosen in x", "text/plain": "",
	} {
		f.do("PATCH", "/api/v1/namespaces/x/configmaps/a?fieldManager=m",
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, "Content-Type", contentType)
		if got := n.take(); got != want {
			t.Errorf("%s: %q, want %q", contentType, got, want)
		}
	}
}
