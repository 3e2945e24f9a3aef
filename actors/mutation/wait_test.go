package mutation

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

type testWaiting struct {
	request.HandlesAll
	mutate   func(a *request.Attributes)
	validate func(a *request.Attributes) error
}

func (w testWaiting) Admit(a *request.Attributes) error {
	if w.mutate != nil {
		w.mutate(a)
	}
	return nil
}

func (w testWaiting) Validate(a *request.Attributes) error {
	if w.validate != nil {
		return w.validate(a)
	}
	return nil
}

func (w testWaiting) plugin() *request.Plugin {
	return &request.Plugin{Stage: request.MayBlock, Mutator: w, Validator: w}
}

func admission(plugins ...*request.Plugin) *request.Admission {
	return &request.Admission{Plugins: plugins}
}

type testAllocator struct{ allocated, released int }

func (a *testAllocator) Allocate(_ meta.Key, _, want tree.Tree) (*request.Reservation, []meta.Cause) {
	a.allocated++
	if want != nil {
		want.EnsureObject("data")["address"] = "10.0.0.7"
	}
	return &request.Reservation{OnRelease: func() { a.released++ }}, nil
}

func (a *testAllocator) Observe(meta.Key, tree.Tree, tree.Tree) []meta.Cause { return nil }

func waitFor(t *testing.T, cur State, m *request.Mutation, env Env) (Candidate, error) {
	t.Helper()
	p := must.Get(Prepare(cur, m, env))(t)
	must.Succeed(t, p.Admit())
	if !p.Waits() {
		t.Fatal("nothing to wait for")
	}
	return p.Wait(t.Context())
}

// TestRefusalReleasesAllocations checks that validating plugins see the allocated values, and that
// the values are released if a plugin rejects the change.
func TestRefusalReleasesAllocations(t *testing.T) {
	k := kindNamed(t, "configmaps")
	allocator := &testAllocator{}
	env := env
	env.Allocator = allocator
	var seen string
	w := testWaiting{validate: func(c *request.Attributes) error {
		if seen = c.New.Object("data").String("address"); c.Mutation.DryRun {
			return nil
		}
		return meta.NewForbidden(k.GroupResource(), "a", "full")
	}}
	m := request.Mutation{Kind: k, Key: meta.Key{Namespace: "default", Name: "a"}, Admission: admission(w.plugin()),
		Change: request.Create{Object: decode(t, k, `{"metadata":{"name":"a","namespace":"default"}}`)}}
	if _, err := waitFor(t, State{}, &m, env); err == nil || seen != "10.0.0.7" || allocator.allocated != 1 || allocator.released != 1 {
		t.Errorf("%v; saw %q, released %d of %d", err, seen, allocator.released, allocator.allocated)
	}
	m.DryRun = true
	c, err := waitFor(t, State{}, &m, env)
	if err != nil || allocator.released != 1 {
		t.Fatalf("%v; released %d before the candidate", err, allocator.released)
	}
	c.Reserved.Release()
	if allocator.allocated != 2 || allocator.released != 2 {
		t.Errorf("released %d of %d", allocator.released, allocator.allocated)
	}
	w.validate = func(*request.Attributes) error { panic("boom") }
	m.Admission = admission(w.plugin())
	func() {
		defer func() { _ = recover() }()
		_, _ = waitFor(t, State{}, &m, env)
	}()
	if allocator.allocated != 3 || allocator.released != 3 {
		t.Errorf("after a panic: released %d of %d", allocator.released, allocator.allocated)
	}
	w.validate = func(*request.Attributes) error { return nil }
	m.Admission, m.DryRun = admission(w.plugin()), false
	setBody(&m, decode(t, k, `{"metadata":{"name":"a","namespace":"default","labels":{"not a name":""}}}`))
	if _, err := waitFor(t, State{}, &m, env); err == nil || allocator.allocated != 4 || allocator.released != 4 {
		t.Errorf("%v; of what is not valid: released %d of %d", err, allocator.released, allocator.allocated)
	}
}

func TestAdmissionIsRestricted(t *testing.T) {
	k := kindNamed(t, "pods")
	meddle := func(c *request.Attributes) {
		c.New.EnsureObject("status")["phase"] = "Failed"
		c.New.EnsureObject("spec").Objects("containers")[0]["image"] = "j"
		c.New.EnsureObject("metadata").EnsureObject("annotations")["a"] = "b"
		c.New.Object("metadata")["creationTimestamp"] = "2020-01-01T00:00:00Z"
	}
	rebind := func(c *request.Attributes) { c.Body.Object("target")["name"] = "o" }
	update := request.Mutation{Change: request.Update{}}
	binding := request.Mutation{Change: request.Create{}, Subresource: "binding"}
	status := request.Mutation{Change: request.Update{}, Subresource: "status"}
	const runningPod = `{"metadata":{"name":"a","namespace":"default","uid":"u1"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}}`
	unbound := strings.Replace(runningPod, `"nodeName":"n",`, "", 1)
	for _, c := range []struct {
		name, current, body string
		m                   request.Mutation
		mutate              func(*request.Attributes)
		phase, image, node  string
	}{
		{"the object", runningPod, runningPod, update, meddle, `"Running"`, `"j"`, `"n"`},
		{"the status", runningPod, runningPod, status, meddle, `"Failed"`, `"i"`, `"n"`},
		{"a binding", unbound, `{"metadata":{"name":"a"},"target":{"kind":"Node","name":"m"}}`, binding, meddle, `"Running"`, `"i"`, `"m"`},
		{"the body of a binding", unbound, `{"metadata":{"name":"a"},"target":{"kind":"Node","name":"m"}}`, binding, rebind, `"Running"`, `"i"`, `"o"`},
	} {
		cur := stateFrom(t, k, c.current, false)
		before := string(codec.AppendAny(nil, cur.Tree))
		m := c.m
		m.Kind, m.Key, m.Admission = k, meta.Key{Namespace: "default", Name: "a"}, admission(testWaiting{mutate: c.mutate}.plugin())
		setBody(&m, decode(t, bodyKind(&m), c.body))
		got, err := waitFor(t, cur, &m, env)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if phase, image, node := fieldText(got.Tree, "status.phase"), fieldText(got.Tree, "spec.containers.0.image"), fieldText(got.Tree, "spec.nodeName"); phase != c.phase || image != c.image || node != c.node {
			t.Errorf("%s: phase %s, image %s, node %s; want %s, %s, %s", c.name, phase, image, node, c.phase, c.image, c.node)
		}
		if uid := fieldText(got.Tree, "metadata.uid"); uid != `"u1"` {
			t.Errorf("%s: uid %s", c.name, uid)
		}
		if string(codec.AppendAny(nil, cur.Tree)) != before {
			t.Errorf("%s: the current state was changed", c.name)
		}
	}
}

// TestNeedsTree checks that a no-op apply and an immediate removal need the decoded object only if
// an admission plugin handles the change.
func TestNeedsTree(t *testing.T) {
	s := newTestObject(t, "configmaps")
	s.write(s.config("one", configMapOf("0")))
	apply := s.config("one", configMapOf("0"))
	remove := request.Mutation{Change: request.Delete{}}
	for _, c := range []struct {
		name          string
		change        func(m *request.Mutation)
		apply, remove bool
	}{
		{"no admission", func(*request.Mutation) {}, false, false},
		{"one of creates", func(m *request.Mutation) { m.Admission = admissionOf(request.OnCreate) }, false, false},
		{"one of updates", func(m *request.Mutation) { m.Admission = admissionOf(request.OnUpdate) }, true, false},
		{"one of deletes", func(m *request.Mutation) { m.Admission = admissionOf(request.OnDelete) }, false, true},
		{"a waiting one", func(m *request.Mutation) { m.Admission = admission(testWaiting{}.plugin()) }, true, true},
	} {
		for _, q := range []struct {
			m    request.Mutation
			want bool
		}{{apply, c.apply}, {remove, c.remove}} {
			q.m.Kind, q.m.Key = s.kind, s.key
			c.change(&q.m)
			if NeedsTree(s.cur.Object, &q.m) != q.want {
				t.Errorf("%s: %T needs the tree: %t", c.name, q.m.Change, !q.want)
			}
		}
	}
}

func TestBodyIsCopiedForChanges(t *testing.T) {
	all := must.Get(catalog.New(meta.Kubernetes))(t)
	for _, c := range []struct {
		admission *request.Admission
		copied    bool
	}{
		{nil, false},
		{admissionOf(request.OnCreate), false},
		{admission(&request.Plugin{Mutator: testAdmission{}}), true},
	} {
		body := tree.Tree{"metadata": tree.Tree{}, "data": tree.Tree{"a": "b"}}
		m := &request.Mutation{Kind: all.Kind("", "v1", "configmaps"), Change: request.Create{Object: body}, Admission: c.admission}
		if copied := !tree.SameRef(copyBody(m, Env{}, request.OnCreate)["data"], body["data"]); copied != c.copied {
			t.Errorf("%v: copied %t", c.admission, copied)
		}
	}
}

func admissionOf(o request.Operation) *request.Admission {
	return admission(&request.Plugin{Operations: o, Validator: testWaiting{}})
}

// testAdmission sets the requester of a CertificateSigningRequest, and calls reserve for each
// change.
type testAdmission struct {
	request.HandlesAll
	reserve func() (*request.Reservation, error)
}

func (testAdmission) Admit(a *request.Attributes) error {
	if a.Kind.Resource == "certificatesigningrequests" {
		a.New.EnsureObject("spec")["username"] = "jane"
	}
	return nil
}

func (t testAdmission) Validate(a *request.Attributes) error {
	r, err := t.reserve()
	if err == nil {
		a.Reserve(r)
	}
	return err
}

func TestRequesterIsKept(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	k := kinds.Kind("certificates.platform.io", "v1", "certificatesigningrequests")
	round := 0
	w := testWaiting{mutate: func(c *request.Attributes) {
		round++
		c.New.EnsureObject("metadata", "labels")["round"] = strings.Repeat("i", round)
		c.New.EnsureObject("spec")["username"], c.New.EnsureObject("spec")["groups"] = "root", []any{"system:masters"}
	}}
	m := request.Mutation{Kind: k, Key: meta.Key{Name: "a"}, Admission: admission(&request.Plugin{Mutator: testAdmission{}}, w.plugin()),
		Change: request.Create{Object: decode(t, k, `{"metadata":{"name":"a"},"spec":{"username":"root","extra":{"a":["b"]}}}`)}}
	p := must.Get(Prepare(State{}, &m, env))(t)
	must.Succeed(t, p.Admit())
	must.Succeed(t, p.mutate())
	spec := p.want.Object("spec")
	if round != 2 || fieldText(p.want, "metadata.labels.round") != `"ii"` || spec.String("username") != "jane" || spec.Has("groups") || spec.Has("extra") {
		t.Errorf("after %d rounds: %v", round, spec)
	}
}

func TestReservationPanics(t *testing.T) {
	k := kindNamed(t, "configmaps")
	allocator := &testAllocator{}
	env := env
	env.Allocator = allocator
	m := request.Mutation{Kind: k, Key: meta.Key{Namespace: "default", Name: "a"},
		Admission: admission(&request.Plugin{Stage: request.Last, Validator: testAdmission{reserve: func() (*request.Reservation, error) { panic("boom") }}}),
		Change:    request.Create{Object: decode(t, k, `{"metadata":{"name":"a","namespace":"default"}}`)}}
	func() {
		defer func() { _ = recover() }()
		_, _ = Apply(State{}, &m, env)
	}()
	if allocator.allocated != 1 || allocator.released != 1 {
		t.Errorf("released %d of %d", allocator.released, allocator.allocated)
	}
}
