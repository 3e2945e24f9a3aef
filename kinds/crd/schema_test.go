package crd

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func newTestCompiler(limit int) *Compiler {
	c := NewCompiler(meta.Platform, schema.NewMessage("meta.v1.ObjectMeta", &schema.Field{Name: "name"}), nil)
	c.schemas.limit = limit
	return c
}

func defineParts(c *Compiler, name string) *Definition {
	parts := tree.Tree{"type": "object", "properties": tree.Tree{"spec": tree.Tree{"type": "object", "properties": tree.Tree{name: tree.Tree{"type": "string"}}}}}
	return c.Compile(tree.Tree{"metadata": tree.Tree{"name": name + ".example.com"}, "spec": tree.Tree{
		"group": "example.com", "names": tree.Tree{"plural": name, "kind": "Part"},
		"versions": []any{tree.Tree{"name": "v1", "served": true, "storage": true, "schema": tree.Tree{"openAPIV3Schema": parts}}},
	}})
}

// TestSchemasOnDemand checks that schemas are compiled on demand and stay cached while in use.
// Unused schemas are evicted, and compiling them again yields an equal schema.
func TestSchemasOnDemand(t *testing.T) {
	c := newTestCompiler(4 * 3 * nodeMemory)
	var all []*schema.Kind
	for i := range 10 {
		all = append(all, defineParts(c, fmt.Sprintf("parts%d", i)).Stored)
	}
	if c.schemas.size != 0 {
		t.Fatalf("%d bytes are compiled before any use", c.schemas.size)
	}
	first := all[0].Message()
	for _, k := range all {
		if k.Message().Lookup("spec."+k.Resource) == nil || all[0].Message() != first {
			t.Errorf("%s: the schema is not what it was, or the first one was dropped although it was asked for", k.Resource)
		}
	}
	if c.schemas.size > c.schemas.limit || len(c.schemas.held) != 4 {
		t.Errorf("%d schemas of %d bytes are compiled, limit %d", len(c.schemas.held), c.schemas.size, c.schemas.limit)
	}
	if k := all[1]; schemaOf(k).compiled.Load() != nil || k.Message().Lookup("spec.parts1") == nil {
		t.Error("a schema was not dropped, or is not compiled again")
	}
}

// TestReleasedSchema checks that the schemas of a removed CRD are not cached, even while in use.
func TestReleasedSchema(t *testing.T) {
	c := newTestCompiler(DefaultSchemaMemory)
	d := defineParts(c, "parts")
	d.Stored.Message()
	d.Release()
	if d.Stored.Message().Lookup("spec.parts") == nil || c.schemas.size != 0 || len(c.schemas.held) != 0 {
		t.Errorf("after the release %d bytes are kept", c.schemas.size)
	}
}

func TestSchemasConcurrently(t *testing.T) {
	c := newTestCompiler(2 * 3 * nodeMemory)
	var all sync.WaitGroup
	for i := range 6 {
		d := defineParts(c, fmt.Sprintf("parts%d", i))
		for range 2 {
			all.Go(func() {
				for n := range 200 {
					if d.Stored.Message().Lookup("spec."+d.Stored.Resource) == nil {
						t.Error("another schema")
					}
					if n == 100 {
						d.Release()
					}
				}
			})
		}
	}
	all.Wait()
	if c.schemas.size != 0 {
		t.Errorf("%d bytes are kept", c.schemas.size)
	}
}

// TestMemoryOfSchemas checks that the estimate is at least the actual memory, for every part of a
// schema.
func TestMemoryOfSchemas(t *testing.T) {
	property := func(keyword, value string) string {
		return `{"type":"object","properties":{"a":{"type":"string","` + keyword + `":` + value + `}}}`
	}
	repeated := func(n int, of string) string { return "[" + strings.Repeat(of+",", n) + of + "]" }
	for name, text := range map[string]string{
		"fields":            `{"type":"object","properties":{` + manyFields(1000) + `}}`,
		"required":          `{"type":"object","required":` + repeated(50_000, `"a"`) + `}`,
		"enum of texts":     property("enum", repeated(50_000, `"a"`)),
		"enum of numbers":   property("enum", repeated(50_000, `1000.5`)),
		"enum of objects":   property("enum", repeated(10_000, `{}`)),
		"default, a list":   property("default", repeated(50_000, `[]`)),
		"default, objects":  property("default", repeated(10_000, `{"a":1}`)),
		"default, a map":    property("default", `{`+manyKeys(10_000)+`}`),
		"pattern":           property("pattern", `"`+strings.Repeat("(a|b)", 5000)+`"`),
		"repeated pattern":  property("pattern", `"((ab[cd]){100}){99}"`),
		"pattern of \\p{L}": property("pattern", `"`+strings.Repeat(`\\p{L}`, 400)+`"`),
		"description":       `{"type":"object","description":"` + strings.Repeat("a", 500_000) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCompiler(DefaultSchemaMemory)
			c.schemaProps = schema.DeclarationOf(schema.NewMessage("", rawField("type"), rawField("description"), rawField("properties"), rawField("required")))
			var all [4]*definedSchema
			for i := range all {
				all[i] = c.newSchema(schemaText(text))
			}
			before := heapSize()
			for _, s := range all {
				s.Message()
			}
			taken := heapSize() - before
			if taken > c.schemas.size || taken+len(all)*len(text) < c.schemas.size/8 {
				t.Errorf("%d bytes are taken, %d are counted", taken, c.schemas.size)
			}
			runtime.KeepAlive(all)
		})
	}
}

func manyFields(n int) string {
	var fields []string
	for i := range n {
		fields = append(fields, fmt.Sprintf(`"field%d":{"type":"string"}`, i))
	}
	return strings.Join(fields, ",")
}

func manyKeys(n int) string {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf(`"key%d":%d.5`, i, i))
	}
	return strings.Join(keys, ",")
}

func heapSize() int {
	runtime.GC()
	runtime.GC() // empties pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
