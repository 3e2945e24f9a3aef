package extension

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	openapiv2 "k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2"
	"pgregory.net/rapid"

	"github.com/troupe-api/troupe/test/client"
)

// bars is a schema with all features that affect the published OpenAPI documents.
const bars = `{"description":"Bars.","type":"object","properties":{"spec":{"type":"object","description":"Wanted.","properties":{"bars":{"description":"List of bars.","type":"array",
	"items":{"type":"object","required":["name"],"properties":{"name":{"description":"Name of a bar.","type":"string"},"feeling":{"type":"string","enum":["Great","Down"]},"bazs":{"type":"array","items":{"type":"string"}}}}},
	"null":{"type":"object","nullable":true,"properties":{"a":{"type":"string"}}},"list":{"type":"array","x-platform-preserve-unknown-fields":true,"items":{"type":"object"}},
	"open":{"type":"object","description":"Open.","x-platform-preserve-unknown-fields":true,"properties":{"a":{"type":"string","default":"A"}}},
	"either":{"x-platform-int-or-string":true},"map":{"type":"object","additionalProperties":{"type":"integer","minimum":1}}},"required":["bars","null"]}}}`

// published returns the OpenAPI schema of widgets from the document at path.
func (s customSession) published(path string, where ...string) map[string]any {
	s.T.Helper()
	text := strings.ReplaceAll(s.accept(200, path, "application/json").String(), "x-platform-", "x-kubernetes-")
	var at map[string]any
	client.Decode(s.T, text[strings.Index(text, "{"):], &at)
	for _, name := range append(where, "com.example.v1.Widget") {
		at, _ = at[name].(map[string]any)
	}
	if at == nil {
		s.T.Fatalf("%s has no widgets", path)
	}
	return at
}

// TestPublishedSchemas compares the OpenAPI schemas of CRDs, except for fields common to all
// objects, with the reference implementation.
func TestPublishedSchemas(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	schemas := []string{bars, customNested, customRuled, narrow}
	for range 10 {
		text := client.Encode(t, map[string]any{"type": "object", "properties": map[string]any{"spec": rapid.Custom(func(t *rapid.T) map[string]any {
			return schemaGenerator{t}.object(3)
		}).Example(len(schemas))}})
		schemas = append(schemas, strings.ReplaceAll(string(text), "x-kubernetes-", "x-platform-"))
	}
	for i, text := range schemas {
		if i == 0 {
			s.define(customDefinition{schema: text})
		} else {
			s.updateDefinition(customDefinition{schema: text})
		}
		r := newReference(t, []byte(strings.ReplaceAll(text, "x-platform-", "x-kubernetes-")))
		unfolded := r.Structural.Unfold()
		for path, want := range map[string]any{
			"/openapi/v2": openapiv2.ToStructuralOpenAPIV2(unfolded).ToKubeOpenAPI(), "/openapi/v3/apis/example.com/v1": unfolded.ToKubeOpenAPI(),
		} {
			where := []string{"definitions"}
			if strings.Contains(path, "v3") {
				where = []string{"components", "schemas"}
			}
			got := s.published(path, where...)
			delete(got, "x-kubernetes-group-version-kind")
			for _, name := range []string{"apiVersion", "kind", "metadata"} {
				if got["properties"].(map[string]any)[name] == nil {
					t.Errorf("%s: no %s", path, name)
				}
				delete(got["properties"].(map[string]any), name)
			}
			var wanted map[string]any
			if b, err := json.Marshal(want); err != nil || json.Unmarshal(b, &wanted) != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, wanted) {
				g, _ := json.Marshal(got)
				w, _ := json.Marshal(wanted)
				t.Errorf("%s publishes\n%s\nwant\n%s", path, g, w)
			}
		}
	}
}

// TestPublishedOpenSchemas checks that OpenAPI v2 marks schemas that preserve unknown fields.
// Otherwise, clients would reject such fields.
func TestPublishedOpenSchemas(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{})
	v2 := s.published("/openapi/v2", "definitions")
	if v2["properties"] != nil || v2["type"] != "object" || v2["description"] != nil || v2["x-kubernetes-group-version-kind"] == nil {
		t.Errorf("open at the root: %v", v2)
	}
	v3 := s.published("/openapi/v3/apis/example.com/v1", "components", "schemas")
	if v3["properties"] == nil || v3["x-kubernetes-preserve-unknown-fields"] != true || v3["description"] != nil {
		t.Errorf("open at the root: %v", v3)
	}
}
