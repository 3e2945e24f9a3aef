package mutation

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// testObject is an object that benchmarks and tests write repeatedly.
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
	return &testObject{t: t, kind: kindNamed(t, resource), key: meta.Key{Namespace: "default", Name: "a"}, env: env}
}

func (s *testObject) write(m request.Mutation) Candidate {
	s.t.Helper()
	m.Kind, m.Key = s.kind, s.key
	c := must.Get(Apply(s.cur, &m, s.env))(s.t)
	if c.Op == Put {
		s.version++
		json := string(c.Encoded.JSON[:c.Encoded.VersionOffset]) + strconv.FormatUint(s.version, 10) + string(c.Encoded.JSON[c.Encoded.VersionOffset:])
		o := &meta.Object{JSON: []byte(json), ItemOffset: s.kind.ItemOffset(), Meta: c.Head, Version: s.version}
		s.cur = State{Object: o, Tree: c.Tree, Committed: true}
	}
	return c
}

func (s *testObject) config(manager, text string) request.Mutation {
	s.t.Helper()
	return request.Mutation{FieldManager: manager, Change: request.Apply{Config: decode(s.t, s.kind, text)}}
}

func configMapOf(value string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"},"data":{"payload":%q,"sent":%q}}`, strings.Repeat("x", 1024), value)
}

// podOf returns a 2 KiB Pod configuration, as applied by the first of its three managers.
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
