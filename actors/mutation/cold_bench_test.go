package mutation

import (
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/managedfields"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
)

// BenchmarkCold measures a write whose previous object is not cached, including the decoding of the
// body and the previous object, but not storing the result.
func BenchmarkCold(b *testing.B) {
	create := request.Mutation{Change: request.Create{}, FieldManager: "one"}
	update := request.Mutation{Change: request.Update{}, FieldManager: "one"}
	apply := request.Mutation{Change: request.Apply{}, FieldManager: "one"}
	patch := func(body string) request.Mutation {
		return request.Mutation{FieldManager: "one", Change: request.Patch{Type: request.MergePatch, Body: []byte(body)}}
	}
	made := func() *testObject {
		s := newTestObject(b, "configmaps")
		first := create
		first.Change = request.Create{Object: decode(b, s.kind, configMapOf("0"))}
		s.write(first)
		return s
	}
	applied := func() *testObject {
		s := newTestObject(b, "configmaps")
		s.write(s.config("one", configMapOf("0")))
		return s
	}
	pod := func() *testObject { return newTestPod(b) }
	for _, bench := range []struct {
		name  string
		stage func() *testObject
		m     request.Mutation
		body  string
	}{
		{"CreateConfigMap", func() *testObject { return newTestObject(b, "configmaps") }, create, configMapOf("0")},
		{"UpdateConfigMap", made, update, configMapOf("1")},
		{"PatchConfigMap", made, patch(`{"data":{"sent":"1"}}`), ""},
		{"ApplyConfigMap", applied, apply, configMapOf("1")},
		{"ApplyPod", pod, apply, podOf("1")},
		{"ApplyPodUnchanged", pod, apply, podOf("0")},
		{"CreatePod", func() *testObject { return newTestObject(b, "pods") }, create, podOf("0")},
		{"PatchPod", pod, patch(`{"metadata":{"labels":{"patched":"x"}}}`), ""},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s := bench.stage()
			s.env.Now = s.env.Now.Add(time.Hour)
			s.benchmarkCold(b, bench.m, bench.body)
		})
	}
}

func (s *testObject) benchmarkCold(b *testing.B, m request.Mutation, body string) {
	b.Helper()
	b.ReportAllocs()
	m.Kind, m.Key = s.kind, s.key
	text := []byte(body)
	before := cpuTime(b)
	i := 0
	for ; b.Loop(); i++ {
		if body != "" {
			object, _, _ := codec.DecodeJSON(s.kind.Message(), text)
			setBody(&m, object)
		}
		if request.Is[request.Apply](&m) {
			managedfields.CheckConfig(s.kind.Message(), m.Body(), nil)
		}
		state := s.cur
		state.Tree = nil
		if state.Object != nil && NeedsTree(state.Object, &m) {
			var err error
			if state.Tree, err = codec.DecodeStored(s.kind.Message(), state.Object.JSON); err != nil {
				b.Fatal(err)
			}
		}
		must.Get(Apply(state, &m, s.env))(b)
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(i), "µs-cpu/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	return must.Get(processes.CPUTime())(b)
}
