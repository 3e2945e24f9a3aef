package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/test/client"
)

// oddValues lists JSON values that few fields accept.
var oddValues = []string{
	`null`, `""`, `"x"`, `"\u0000/.."`, `-1`, `99999999999`, `1.5`, `true`, `[]`, `{}`, `[null]`, `{"":null}`,
}

// variants calls do with variants of a JSON value. Each variant replaces one nested value with one
// of oddValues.
func variants(root any, do func(variant string)) {
	var walk func(v any, wrap func(inner string) string)
	walk = func(v any, wrap func(inner string) string) {
		for _, o := range oddValues {
			do(wrap(o))
		}
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				rest := maps.Clone(v)
				delete(rest, name)
				walk(v[name], func(inner string) string { return wrap(with(rest, name, inner)) })
			}
		case []any:
			for i := range v {
				walk(v[i], func(inner string) string { return wrap(replaced(v, i, inner)) })
			}
		}
	}
	walk(root, func(inner string) string { return inner })
}

func with(rest map[string]any, name, value string) string {
	return compact(mergeCatalog(rest, map[string]any{name: json.RawMessage(value)}))
}

func replaced(list []any, i int, value string) string {
	list = slices.Clone(list)
	list[i] = json.RawMessage(value)
	return compact(list)
}

// TestOddities checks that an invalid body never causes a server error. If the server accepts an
// object, recreating it from its stored form must yield the same object.
func TestOddities(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, meta.Kubernetes)
	s := client.Serve(t, t.TempDir(), func(c *daemon.Config) { c.Naming = "kubernetes" })
	for _, o := range readObjects(t, "testdata/representation/objects.yaml", "testdata/catalog/full.yaml") {
		p := &catalogPlayer{Client: s.Client, catalog: c, table: &tableFile{apiVersion: o["apiVersion"].(string), kind: o["kind"].(string)}}
		k, err := p.kind(catalogRequest{})
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("%s %s", p.table.apiVersion, k.Kind), func(t *testing.T) {
			path := collection(k) + "?dryRun=All"
			variants(any(o), func(body string) {
				a := p.sendAny(t, path, body)
				if a.Code != http.StatusCreated || k.Kind == "Job" { // its labels contain the uid
					return
				}
				complete := withoutGenerated(a.Object())
				if again := p.sendAny(t, path, complete); again.Code != a.Code || withoutGenerated(again.Object()) != complete {
					t.Errorf("%s\nafter\n%s\nfor %s", again, complete, body)
				}
			})
		})
	}
}

// sendAny creates an object from a body that may be invalid, and reports server errors.
func (p *catalogPlayer) sendAny(t *testing.T, path, body string) client.Answer {
	t.Helper()
	a, err := p.Create(t.Context(), path, []byte(body))
	if err != nil {
		t.Fatalf("%v for %s", err, body)
	}
	if a.Code >= 500 || a.Object()["kind"] == nil {
		t.Errorf("%s\nfor %s", a, body)
	}
	return a
}

// withoutGenerated returns an object's JSON without its status and generated fields.
func withoutGenerated(o client.Object) string {
	metadata := maps.Clone(o.Metadata())
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		delete(metadata, name)
	}
	rest := maps.Clone(o)
	rest["metadata"] = metadata
	delete(rest, "status")
	return compact(map[string]any(rest))
}
