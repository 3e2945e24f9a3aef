package crd

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// BenchmarkObject measures the creation of a custom object: decoding, pruning, defaulting,
// validation with two rules, and encoding.
func BenchmarkObject(b *testing.B) {
	head := schema.NewMessage("meta.v1.ObjectMeta", &schema.Field{Name: "name"}, &schema.Field{Name: "resourceVersion"})
	c := NewCompiler(meta.Platform, head, nil)
	definition, _, err := codec.DecodeAny([]byte(`{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
		"x-platform-validations":[{"rule":"self.size < 10"},{"rule":"self.parts.all(p, p.n > 0)"}],
		"properties":{"size":{"type":"integer","maximum":20},"color":{"type":"string","enum":["red","blue"],"default":"red"},
			"parts":{"type":"array","maxItems":10,"items":{"type":"object","properties":{"name":{"type":"string"},"n":{"type":"integer","default":1}}}}}}}}}}]}}`))
	if err != nil {
		b.Fatal(err)
	}
	k := c.Compile(definition.(tree.Tree)).Stored
	body := []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3,"parts":[{"name":"a"},{"name":"b","n":2},{"name":"c"}]}}`)
	b.ReportAllocs()
	for b.Loop() {
		object, _, err := codec.DecodeJSON(k.Message(), body)
		if err != nil {
			b.Fatal(err)
		}
		rules.Default(k, object)
		var faults schema.Faults
		if k.Strategy.ValidateServed(object, nil, &faults); len(faults.List) > 0 {
			b.Fatal(faults.List)
		}
		codec.EncodeJSON(k, object)
	}
}
