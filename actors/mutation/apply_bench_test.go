package mutation

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
)

// testObject is an object that is written again and again.
type testObject struct {
	t       testing.TB
	kind    *schema.Kind
	key     meta.Key
	cur     State
	version uint64
	env     Env
}

func newTestObject(t testing.TB, resource string) *testObject {
	t.Helper()
	env := env
	return &testObject{t: t, kind: kindNamed(t, resource), key: meta.Key{Namespace: "default", Name: "a"}, env: env}
}

// write makes a mutation, and stores its result as the state.
func (s *testObject) write(m request.Mutation) Candidate {
	s.t.Helper()
	m.Kind, m.Key = s.kind, s.key
	c, err := Apply(s.cur, &m, s.env)
	if err != nil {
		s.t.Fatal(err)
	}
	if c.Op == Put {
		s.version++
		json := string(c.Encoded.JSON[:c.Encoded.VersionOffset]) + strconv.FormatUint(s.version, 10) + string(c.Encoded.JSON[c.Encoded.VersionOffset:])
		o := &meta.Object{JSON: []byte(json), ItemOffset: s.kind.ItemOffset(), Meta: c.Head, Version: s.version}
		s.cur = State{Object: o, Tree: c.Tree, Committed: true}
	}
	return c
}

// config returns a configuration to be applied by a manager.
func (s *testObject) config(manager, text string) request.Mutation {
	s.t.Helper()
	tree, faults, err := codec.DecodeJSON(s.kind.Message(), []byte(text))
	if err != nil || len(faults) > 0 {
		s.t.Fatalf("%s: %v %v", text, faults, err)
	}
	return request.Mutation{FieldManager: manager, Change: request.Apply{Config: tree}}
}

func configMapOf(value string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"},"data":{"payload":%q,"sent":%q}}`, strings.Repeat("x", 1024), value)
}

// podOf returns what the first of three managers applies of a Pod of about 2 KiB.
func podOf(label string) string {
	container := func(name string) string {
		return `{"name":"` + name + `","image":"example.com/` + name + `:1","args":["--config","/etc/web/server.conf"],"ports":[{"name":"p` + name + `","containerPort":80}],` +
			`"env":[{"name":"MODE","value":"fast"},{"name":"LEVEL","value":"3"}],"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"1","memory":"128Mi"}},` +
			`"readinessProbe":{"tcpSocket":{"port":80},"periodSeconds":5},"volumeMounts":[{"name":"work","mountPath":"/work"}]}`
	}
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default","labels":{"app":"web","tier":"` + label + `"}},"spec":{` +
		`"containers":[` + container("one") + `,` + container("two") + `],"volumes":[{"name":"work","emptyDir":{}}]}}`
}

func newTestPod(t testing.TB) *testObject {
	t.Helper()
	s := newTestObject(t, "pods")
	s.write(s.config("one", podOf("0")))
	s.write(s.config("two", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default","labels":{"owner":"two"},"annotations":{"example.com/a":"b"}}}`))
	status := s.config("kubelet", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"status":{"phase":"Running","podIP":"10.0.0.1","conditions":[`+
		`{"type":"Ready","status":"True"},{"type":"Initialized","status":"True"}]}}`)
	status.Subresource = "status"
	s.write(status)
	return s
}

func TestNoOpApply(t *testing.T) {
	s := newTestPod(t)
	s.env.Now = s.env.Now.Add(time.Hour)
	if c := s.write(s.config("one", podOf("0"))); c.Op != None {
		t.Errorf("the same configuration made %s", c.Encoded.JSON)
	}
	if c := s.write(s.config("one", podOf("1"))); c.Op != Put || !strings.Contains(string(c.Encoded.JSON), timestamp(s.env.Now)) {
		t.Errorf("another configuration made %s", c.Encoded.JSON)
	}
}

// benchmarkWrites repeats writes. It also reports the CPU per write, which depends less on other
// load than the time.
func (s *testObject) benchmarkWrites(b *testing.B, all ...request.Mutation) {
	b.Helper()
	b.ReportAllocs()
	before := cpuTime(b)
	i := 0
	for ; b.Loop(); i++ {
		s.write(all[i%len(all)])
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(i), "µs-cpu/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	used, err := processes.CPUTime()
	if err != nil {
		b.Fatal(err)
	}
	return used
}

func BenchmarkApplyConfigMap(b *testing.B) {
	s := newTestObject(b, "configmaps")
	s.write(s.config("one", configMapOf("0")))
	s.benchmarkWrites(b, s.config("one", configMapOf("1")), s.config("one", configMapOf("2")))
}

func BenchmarkApplyPod(b *testing.B) {
	s := newTestPod(b)
	s.benchmarkWrites(b, s.config("one", podOf("1")), s.config("one", podOf("2")))
}

func BenchmarkApplyPodUnchanged(b *testing.B) {
	s := newTestPod(b)
	s.benchmarkWrites(b, s.config("one", podOf("0")))
}

func BenchmarkUpdatePod(b *testing.B) {
	s := newTestPod(b)
	patch := func(value string) request.Mutation {
		return request.Mutation{FieldManager: "patcher",
			Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"metadata":{"labels":{"patched":"` + value + `"}}}`)}}
	}
	s.benchmarkWrites(b, patch("x"), patch("y"))
}

func (s *testObject) body(text string) tree.Tree {
	s.t.Helper()
	object, _, err := codec.DecodeJSON(s.kind.Message(), []byte(text))
	if err != nil {
		s.t.Fatal(err)
	}
	return object
}

func BenchmarkCreateConfigMap(b *testing.B) {
	s := newTestObject(b, "configmaps")
	m := request.Mutation{Change: request.Create{Object: s.body(configMapOf("0"))}, FieldManager: "one", Kind: s.kind, Key: s.key}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Apply(State{}, &m, s.env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdateConfigMap(b *testing.B) {
	s := newTestObject(b, "configmaps")
	s.write(request.Mutation{Change: request.Create{Object: s.body(configMapOf("0"))}, FieldManager: "one"})
	update := func(value string) request.Mutation {
		return request.Mutation{Change: request.Update{Object: s.body(configMapOf(value))}, FieldManager: "one"}
	}
	s.benchmarkWrites(b, update("1"), update("2"))
}

func BenchmarkPatchConfigMap(b *testing.B) {
	s := newTestObject(b, "configmaps")
	s.write(request.Mutation{Change: request.Create{Object: s.body(configMapOf("0"))}, FieldManager: "one"})
	patch := func(value string) request.Mutation {
		return request.Mutation{FieldManager: "one", Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"data":{"sent":"` + value + `"}}`)}}
	}
	s.benchmarkWrites(b, patch("1"), patch("2"))
}
