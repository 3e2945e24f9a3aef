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
)

// noteTaker is a waiting plugin, its reservations, and a store of no-op applies; it notes what is asked.
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

func (n *noteTaker) NoOpApply(*request.Mutation) (request.Result, bool) {
	n.note("no-op?")
	return request.Result{}, false
}

func (*noteTaker) Selects(*schema.Kind, string) bool     { return true }
func (*noteTaker) Applies(*admission.Attributes) bool    { return true }
func (n *noteTaker) Commit()                             { n.note("commit") }
func (n *noteTaker) Release()                            { n.note("release") }
func (n *noteTaker) Admit(a *admission.Attributes) error { n.note("admit"); return nil }

func (n *noteTaker) waiting() admission.WaitingPlugin { return waitingNotes{n} }

type waitingNotes struct{ *noteTaker }

func (n waitingNotes) Mutate(_ context.Context, a *admission.Attributes) ([]string, error) {
	n.note("mutate " + a.Subresource)
	return nil, nil
}

func (n waitingNotes) Validate(_ context.Context, a *admission.Attributes) (request.Verdict, error) {
	return request.Verdict{Warnings: []string{"careful"}, Reservation: n.noteTaker}, nil
}

// An operation is admitted like any write. What was reserved for it is kept if it has succeeded.
func TestOperationWaitsForAdmission(t *testing.T) {
	n := &noteTaker{}
	var fail error
	f := serve(t, func(o *http.Options) {
		n.memStore = o.Store.(*memStore)
		o.Admission = admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
			{Resources: []string{"/pods/eviction"}, Waiting: n.waiting(), Plugin: n},
		})
		o.Operations = map[string]http.Operation{"/v1/pods/eviction": func(context.Context, http.OperationRequest) (tree.Tree, error) {
			n.note("evict")
			return nil, fail
		}}
	})
	const path, body = "/api/v1/namespaces/x/pods/p/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`
	for _, c := range []struct {
		query string
		fail  error
		code  int
		notes string
	}{
		{"", nil, 201, "admit, mutate eviction, admit, evict, commit"},
		{"?dryRun=All", nil, 201, "admit, mutate eviction, admit, evict, release"},
		{"", meta.NewTooManyRequests("no", 1), 429, "admit, mutate eviction, admit, evict, release"},
	} {
		fail = c.fail
		resp, text := f.do("POST", path+c.query, body, "Content-Type", "application/json")
		if got := n.take(); resp.StatusCode != c.code || got != c.notes || !strings.Contains(fmt.Sprint(resp.Header["Warning"]), "careful") {
			t.Errorf("%v: %d %s; %s, warnings %q", c, resp.StatusCode, text, got, resp.Header["Warning"])
		}
	}
}

// An apply is recognized by its digest only where no admission has to see it.
func TestAdmittedApplyIsNotSkipped(t *testing.T) {
	n := &noteTaker{}
	f := serve(t, func(o *http.Options) {
		n.memStore = o.Store.(*memStore)
		o.Store = n
		o.Admission = admission.New(meta.Platform, admission.PluginConfig{}, []admission.Registration{
			{Resources: []string{"/secrets"}, Plugin: n},
			{Resources: []string{"/configmaps"}, Plugin: n, Operations: []request.Verb{request.Create}},
		})
	})
	for resource, want := range map[string]string{"configmaps": "no-op?", "secrets": "", "services": "no-op?"} {
		f.do("PATCH", "/api/v1/namespaces/x/"+resource+"/a?fieldManager=m", `{"apiVersion":"v1","kind":"X"}`, "Content-Type", "application/apply-patch+yaml")
		if got := n.take(); got != want {
			t.Errorf("%s: %q, want %q", resource, got, want)
		}
	}
}
