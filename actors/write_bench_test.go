package actors_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/ownership"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// benchmarkMutations makes mutations in sequence on a store in memory, and reports their CPU, which
// depends less on other load than the time.
func benchmarkMutations(b *testing.B, h *testStore, next func(i int) request.Mutation) {
	b.Helper()
	b.ReportAllocs()
	before, i := cpuTime(b), 0
	for ; b.Loop(); i++ {
		if _, err := h.Mutate(context.Background(), next(i)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/1000/float64(i), "µs-cpu/op")
}

// configMapTree returns a ConfigMap of 1 KiB.
func configMapTree(name, value string) tree.Tree {
	return tree.Tree{"metadata": tree.Tree{"name": name}, "data": tree.Tree{"v": value, "payload": strings.Repeat("x", 1024)}}
}

// BenchmarkUpdate updates one ConfigMap.
func BenchmarkUpdate(b *testing.B) {
	h := open(b, b.TempDir(), nil)
	defer h.close()
	m := request.Mutation{Kind: h.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: "c"}, Change: request.Create{Object: configMapTree("c", "0")}}
	if _, err := h.Mutate(context.Background(), m); err != nil {
		b.Fatal(err)
	}
	benchmarkMutations(b, h, func(i int) request.Mutation {
		m.Change = request.Update{Object: configMapTree("c", fmt.Sprint(i))}
		return m
	})
}

// BenchmarkDelete creates and deletes a ConfigMap.
func BenchmarkDelete(b *testing.B) {
	h := open(b, b.TempDir(), nil)
	defer h.close()
	key := meta.Key{Namespace: "default", Name: "c"}
	benchmarkMutations(b, h, func(i int) request.Mutation {
		if i%2 == 1 {
			return request.Mutation{Kind: h.kind("configmaps"), Key: key, Change: request.Delete{}}
		}
		return request.Mutation{Kind: h.kind("configmaps"), Key: key, Change: request.Create{Object: configMapTree("c", "0")}}
	})
}

// podText returns what its manager applies of a Pod of about 2 KiB. Blanks change only the text.
func podText(name, label, blanks string) string {
	container := func(name string) string {
		return `{"name":"` + name + `","image":"example.com/` + name + `:1","args":["--config","/etc/web/server.conf"],"ports":[{"name":"p` + name + `","containerPort":80}],` +
			`"env":[{"name":"MODE","value":"fast"},{"name":"LEVEL","value":"3"}],"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"1","memory":"128Mi"}},` +
			`"readinessProbe":{"tcpSocket":{"port":80},"periodSeconds":5},"volumeMounts":[{"name":"work","mountPath":"/work"}]}`
	}
	return `{` + blanks + `"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"default","labels":{"app":"web","tier":"` + label + `"}},"spec":{` +
		`"containers":[` + container("one") + `,` + container("two") + `],"volumes":[{"name":"work","emptyDir":{}}]}}`
}

// applyOf returns an apply of a text, decoded and checked as by the HTTP layer.
func applyOf(b *testing.B, k *schema.Kind, name, text string) request.Mutation {
	b.Helper()
	config, faults, err := codec.DecodeConfig(k.Message(), []byte(text))
	if err != nil || len(faults) > 0 || ownership.CheckConfig(k.Message(), config, nil) != "" {
		b.Fatal(err, faults)
	}
	return request.Mutation{FieldManager: "one", Kind: k,
		Key: meta.Key{Namespace: "default", Name: name}, Change: request.Apply{Config: config}}
}

// appliedPods creates Pods with one manager by apply, and another for their status.
func appliedPods(b *testing.B, h *testStore, names []string) {
	b.Helper()
	k := h.kind("pods")
	for _, name := range names {
		status := applyOf(b, k, name, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`+name+`"},"status":{"phase":"Running","podIP":"10.0.0.1","conditions":[`+
			`{"type":"Ready","status":"True"},{"type":"Initialized","status":"True"}]}}`)
		status.Subresource, status.FieldManager = "status", "kubelet"
		for _, m := range []request.Mutation{applyOf(b, k, name, podText(name, "0", "")), status} {
			if _, err := h.Mutate(context.Background(), m); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// podNames returns enough Pods that none still has an owner when its turn comes again.
func podNames() (names []string) {
	for i := range 1000 {
		names = append(names, fmt.Sprint("p", i))
	}
	return names
}

// BenchmarkApply applies changes to one Pod.
func BenchmarkApply(b *testing.B) {
	h := open(b, b.TempDir(), nil)
	defer h.close()
	appliedPods(b, h, []string{"p"})
	benchmarkMutations(b, h, func(i int) request.Mutation {
		return applyOf(b, h.kind("pods"), "p", podText("p", fmt.Sprint(i), ""))
	})
}

// BenchmarkApplyNoOp applies what the Pods have already: as the same text, recognized by its
// digest, or as another text, which must be compared.
func BenchmarkApplyNoOp(b *testing.B) {
	for name, pods := range map[string][]string{"OneHotPod": {"p"}, "ManyPods": podNames()} {
		b.Run(name, func(b *testing.B) {
			h := open(b, b.TempDir(), nil)
			defer h.close()
			appliedPods(b, h, pods)
			version := h.Version()
			benchmarkMutations(b, h, func(i int) request.Mutation {
				pod := pods[i%len(pods)]
				return applyOf(b, h.kind("pods"), pod, podText(pod, "0", " "))
			})
			if h.Version() != version {
				b.Error("something has changed")
			}
		})
	}
	b.Run("SameText", func(b *testing.B) {
		h := open(b, b.TempDir(), nil)
		defer h.close()
		appliedPods(b, h, []string{"p"})
		m := applyOf(b, h.kind("pods"), "p", podText("p", "0", ""))
		apply, digest := m.Change.(request.Apply), func() meta.Digest { return meta.Digest{1} }
		apply.Digest = digest
		m.Change = apply
		if _, err := h.Mutate(context.Background(), m); err != nil {
			b.Fatal(err)
		}
		var hits atomic.Int64
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := h.NoOpApply(m, digest); ok {
				hits.Add(1)
			}
		}
		if hits.Load() == 0 {
			b.Error("no apply was known to change nothing")
		}
	})
}
