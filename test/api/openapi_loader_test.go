package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilproto "k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"
	kubectl "k8s.io/kubectl/pkg/util/openapi"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/test/client"
)

func kindsOpenAPI(t *testing.T, profile string) *catalog.Catalog {
	t.Helper()
	n, err := meta.ParseNaming(profile)
	if err != nil {
		t.Fatal(err)
	}
	return newCatalog(t, n)
}

// TestReferences checks that each referenced definition exists in the document, and that each
// definition except watch events is referenced.
func TestReferences(t *testing.T) {
	t.Parallel()
	for _, profile := range profiles {
		s := serveOpenAPI(t, profile)
		check(t, profile+" v2", document(t, s, "/openapi/v2", "application/json"), "#/definitions/", "definitions")
		for path, url := range index(t, s) {
			check(t, profile+" "+path, document(t, s, url, "application/json"), "#/components/schemas/", "components", "schemas")
		}
	}
}

func check(t *testing.T, name string, text []byte, prefix string, where ...string) {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	at := doc
	for _, w := range where {
		at = at[w].(map[string]any)
	}
	used := map[string]bool{}
	references(doc, func(ref string) {
		if to, ok := strings.CutPrefix(ref, prefix); ok {
			used[to] = true
			if at[to] == nil {
				t.Errorf("%s: %s leads nowhere", name, ref)
			}
			return
		}
		shared, _ := doc["parameters"].(map[string]any)
		if to, ok := strings.CutPrefix(ref, "#/parameters/"); !ok || shared[to] == nil {
			t.Errorf("%s: %s leads nowhere", name, ref)
		}
	})
	for definition := range at {
		if !used[definition] && !strings.HasSuffix(definition, "WatchEvent") {
			t.Errorf("%s: no reference to %s", name, definition)
		}
	}
}

func references(v any, f func(string)) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			f(ref)
		}
		for _, below := range v {
			references(below, f)
		}
	case []any:
		for _, below := range v {
			references(below, f)
		}
	}
}

// TestOperations checks that operation IDs are unique in a document, and that each path declares
// exactly its own path parameters.
func TestOperations(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	s := serveOpenAPI(t, "platform")
	client.Decode(t, document(t, s, "/openapi/v2", "application/json"), &doc)
	seen := map[string]string{}
	for path, item := range doc.Paths {
		for method, text := range item {
			if method == "parameters" {
				for _, name := range []string{"name", "namespace"} {
					if strings.Contains(string(text), "#/parameters/"+name+`"`) != strings.Contains(path, "{"+name+"}") {
						t.Errorf("%s has the parameters %s", path, text)
					}
				}
				continue
			}
			var o struct{ OperationID string }
			client.Decode(t, text, &o)
			if seen[o.OperationID] != "" {
				t.Errorf("%s and %s are both %s", path, seen[o.OperationID], o.OperationID)
			}
			seen[o.OperationID] = path
		}
	}
	if len(seen) < 400 {
		t.Errorf("only %d operations", len(seen))
	}
}

// TestClients checks that clients find each kind in kubectl's v2 models, in the v3 models, and in
// the schema for apply.
func TestClients(t *testing.T) {
	t.Parallel()
	s := serveOpenAPI(t, "kubernetes")
	doc := &openapi_v2.Document{}
	if err := proto.Unmarshal(document(t, s, "/openapi/v2", protobuf2), doc); err != nil {
		t.Fatal(err)
	}
	resources, err := kubectl.NewOpenAPIData(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kindsOpenAPI(t, "kubernetes").Kinds() {
		if resources.LookupResource(gvk(k.GroupVersionKind)) == nil {
			t.Errorf("kubectl does not find %s %s", k.APIVersion(), k.Kind)
		}
	}
	for path, url := range index(t, s) {
		doc := &openapi_v3.Document{}
		if err := proto.Unmarshal(document(t, s, url, protobuf3), doc); err != nil {
			t.Fatal(err)
		}
		models, err := utilproto.NewOpenAPIV3Data(doc)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, name := range models.ListModels() {
			if models.LookupModel(name) == nil {
				t.Errorf("%s: no model of %s", path, name)
			}
		}
		var schemas struct {
			Components struct{ Schemas map[string]*spec.Schema }
		}
		if err := json.Unmarshal(document(t, s, url, "application/json"), &schemas); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if _, err := managedfields.NewTypeConverter(schemas.Components.Schemas, false); err != nil {
			t.Errorf("%s: apply: %v", path, err)
		}
	}
}

// TestOpenAPINames checks that definitions have the model names of the Go types in k8s.io/api.
func TestOpenAPINames(t *testing.T) {
	t.Parallel()
	known := modelNames()
	if len(known) < 600 {
		t.Fatalf("only %d types have a name", len(known))
	}
	s := serveOpenAPI(t, "kubernetes")
	var doc struct{ Definitions map[string]any }
	client.Decode(t, document(t, s, "/openapi/v2", "application/json"), &doc)
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(doc.Definitions)) {
		elsewhere := strings.Contains(name, ".pkg.apis.apiextensions.") || strings.Contains(name, ".pkg.apis.apiregistration.")
		if !known[name] && !elsewhere && !strings.HasSuffix(name, ".v1.Patch") {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		t.Errorf("no public type is called\n%s", fmt.Sprint(strings.Join(unknown, "\n")))
	}
}
