package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/client"
)

// TestAppliedAgain checks that a repeated apply changes neither the resourceVersion nor the managed
// fields, including their timestamps. One manager applies an object, and then three managers apply
// the result or parts of it.
func TestAppliedAgain(t *testing.T) {
	t.Parallel()
	kinds := newCatalog(t, meta.Kubernetes)
	s := applySession{client.Open(t, func(c *daemon.Config) {
		c.Naming, c.Controllers = "kubernetes", client.KeepingControllers
	})}
	var all []*reapplied
	for i, o := range readObjects(t, "testdata/representation/objects.yaml") {
		k := kindOf(t, kinds, o)
		if !slices.Contains(k.Verbs, "patch") {
			continue
		}
		r, path := rand.New(rand.NewSource(int64(i))), pathOf(k, o)
		// With this label, the first apply creates a managed fields entry. An empty apply creates
		// none.
		o["metadata"].(map[string]any)["labels"] = map[string]any{"a": "b"}
		all = append(all, &reapplied{Rand: r, path: path, field: "spec", configs: []map[string]any{o}})
		if k.Subresource("status") != nil && o["status"] != nil {
			all = append(all, &reapplied{Rand: r, path: path + "/status", field: "status", configs: []map[string]any{o}})
		}
	}
	s.applyAll(all)
	for _, a := range all {
		live := s.get(a.path)
		live["metadata"] = map[string]any{"name": live.Name(), "labels": map[string]any{"a": "b"}}
		a.configs = []map[string]any{live, a.part(live), a.part(live)}
	}
	s.applyAll(all)
}

type reapplied struct {
	*rand.Rand
	path    string
	field   string           // the field of which only parts are applied
	configs []map[string]any // applied by managers one, two and three
	live    client.Object
}

// applyAll applies all objects twice, at least one second apart, because timestamps in managed
// fields have a resolution of one second.
func (s applySession) applyAll(all []*reapplied) {
	s.T.Helper()
	for _, a := range all {
		s.applyEach(a, false)
	}
	for _, a := range all {
		a.live = s.get(a.path)
	}
	client.NextSecond()
	for _, a := range all {
		s.applyEach(a, true)
		s.applyEach(a, false)
		if now := s.get(a.path); now.String() != a.live.String() {
			s.T.Errorf("%v\nhas become\n%v", a.live, now)
		}
	}
}

// applyEach applies the configurations one by one, alternating between JSON and YAML.
func (s applySession) applyEach(a *reapplied, asYAML bool) {
	s.T.Helper()
	for i, config := range a.configs {
		manager := []string{"one", "two", "three"}[i]
		answer, err := s.Do(s.Ctx, "PATCH", a.path+"?fieldManager="+manager, applyTypeApply, encoded(s.T, config, asYAML != (i%2 == 1)))
		if err != nil || answer.Code > 201 {
			s.T.Errorf("%s of %s: %v %v", a.path, manager, answer, err)
		}
	}
}

// part returns a copy of an object with a random subset of its fields.
func (a *reapplied) part(o map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		inner, isObject := o[name].(map[string]any)
		switch {
		case name == "apiVersion" || name == "kind" || name == "metadata":
			out[name] = o[name]
		case isObject && name == a.field:
			out[name] = a.part(inner)
		case a.Intn(2) == 0:
			out[name] = o[name]
		}
	}
	return out
}

func kindOf(t *testing.T, kinds *catalog.Catalog, o map[string]any) *schema.Kind {
	t.Helper()
	for _, k := range kinds.Kinds() {
		if k.APIVersion() == o["apiVersion"] && k.Kind == o["kind"] {
			return k
		}
	}
	t.Fatalf("no kind %v of %v", o["kind"], o["apiVersion"])
	return nil
}

func pathOf(k *schema.Kind, o map[string]any) string {
	path := "/api/" + k.Version
	if k.Group != "" {
		path = "/apis/" + k.Group + "/" + k.Version
	}
	if k.Namespaced {
		path += "/namespaces/default"
	}
	return fmt.Sprint(path, "/", k.Resource, "/", o["metadata"].(map[string]any)["name"])
}

func encoded(t *testing.T, o map[string]any, asYAML bool) []byte {
	t.Helper()
	encode := json.Marshal
	if asYAML {
		encode = yaml.Marshal
	}
	text, err := encode(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
