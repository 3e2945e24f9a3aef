package rules_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const podText = `{"metadata":{"name":"a","namespace":"default","labels":{"app":"web","tier":"front"}},"spec":{
	"volumes":[{"name":"work","emptyDir":{}}],
	"containers":[{"name":"one","image":"example.com/one:1","args":["--config","/etc/web/server.conf"],"ports":[{"name":"http","containerPort":80}],
		"env":[{"name":"MODE","value":"fast"},{"name":"LEVEL","value":"3"}],"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"1","memory":"128Mi"}},
		"readinessProbe":{"tcpSocket":{"port":80},"periodSeconds":5},"volumeMounts":[{"name":"work","mountPath":"/work"}]},
		{"name":"two","image":"example.com/two:1","env":[{"name":"MODE","value":"fast"}],"volumeMounts":[{"name":"work","mountPath":"/work"}]}]}}`

func BenchmarkPod(b *testing.B) {
	c, err := catalog.New(meta.Platform)
	if err != nil {
		b.Fatal(err)
	}
	whole := c.Kind("", "v1", "pods")
	declared := *whole
	declared.Strategy = schema.DefaultStrategy{}
	pod := parseTree(b, podText)
	rules.Default(whole, pod)
	b.Run("default", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rules.Default(&declared, tree.Clone(pod).(tree.Tree))
		}
	})
	b.Run("declared", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if causes := rules.Validate(&declared, pod); causes != nil {
				b.Fatal(causes)
			}
		}
	})
	b.Run("warn", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if texts := rules.Warnings(whole, pod, nil); texts != nil {
				b.Fatal(texts)
			}
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if causes := rules.Validate(whole, pod); causes != nil {
				b.Fatal(causes)
			}
		}
	})
}
