package api_test

import (
	"context"
	"encoding/json"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/openapi"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

var fuzzedSchemas = []string{
	`{"type":"object","required":["spec"],"properties":{"spec":{"type":"object","required":["host","parts"],"x-kubernetes-validations":[
		{"rule":"self.replicas <= 5 || has(self.host)","message":"too many","reason":"FieldValueForbidden","fieldPath":".replicas"},
		{"rule":"self.host == oldSelf.orValue(self).host","optionalOldSelf":true,"messageExpression":"'host is ' + self.host"}],
		"properties":{"host":{"type":"string","format":"hostname","minLength":1,"maxLength":63,"pattern":"^[a-z]([-a-z0-9]*[a-z0-9])?$"},
		"replicas":{"type":"integer","format":"int32","minimum":0,"maximum":10,"default":1},"weight":{"type":"number","exclusiveMinimum":true,"minimum":0,"multipleOf":0.5},
		"kind":{"type":"string","enum":["A","B",""],"nullable":true},"when":{"type":"string","format":"date-time"},
		"parts":{"type":"array","maxItems":8,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],
			"x-kubernetes-validations":[{"rule":"self.ports.all(p, p > 0) && self.name.matches('^[a-z]+$')"}],
			"properties":{"name":{"type":"string","maxLength":20},"ports":{"type":"array","maxItems":4,"x-kubernetes-list-type":"set","items":{"type":"integer"}}}}}}},
		"status":{"type":"object","default":{},"properties":{"phase":{"type":"string","default":"New"}}}}}`,
	`{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"host":{"type":"string"},
		"quantity":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}],"pattern":"^[0-9]+$"},
		"template":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"properties":{"metadata":{"type":"object"}}},
		"labels":{"type":"object","maxProperties":10,"additionalProperties":{"type":"string","maxLength":10}},
		"selector":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"string"}}}}}},
		"choice":{"type":"object","oneOf":[{"required":["x"]},{"required":["y"]}],"not":{"required":["z"]},"allOf":[{"properties":{"x":{"minimum":1}}}],"properties":{"x":{"type":"integer"},"y":{"type":"integer"},"z":{"type":"integer"}}}}}}}`,
}

func fuzzedDefinition(schema string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"widgets","kind":"Widget","shortNames":["w"],"categories":["all"]},"versions":[
		{"name":"v1","served":true,"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}},
			"additionalPrinterColumns":[{"name":"Host","type":"string","jsonPath":".spec.host"},{"name":"First","type":"integer","priority":1,"jsonPath":".spec.parts[?(@.name==\"a\")].ports[0]"}],
			"selectableFields":[{"jsonPath":".spec.host"}],"schema":{"openAPIV3Schema":` + schema + `}},
		{"name":"v1beta1","served":true,"storage":false,"deprecated":true,"schema":{"openAPIV3Schema":` + schema + `}}]}}`
}

var fuzzedValues = []any{
	nil, true, false, int64(0), int64(-1), int64(1), int64(1 << 62), 1e308, 0.5, "", "a", "object", "array", "string", "integer", "number", "boolean", "date-time", "map", "set", "granular",
	strings.Repeat("long", 1000), "^(a|b)*$", "((ab[cd]){100}){99}", `\p{L}{1000}`, "[", ".spec", ".spec.parts[*].name", ".spec['a b']", "$.[", "self", "oldSelf", "self == oldSelf",
	"self.all(x, self.all(y, self.all(z, x == y)))", "self.map(x, self.map(y, self))", "'a' + string(self)", "self.spec.host.matches('(a*)*b')", "1 / 0 == 1", "self.?a.orValue(1) > 0",
	"has(self.spec) && self.spec.parts.exists_one(p, p.name == 'a')", "cel.bind(x, self, x == x)", strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300), strings.Repeat("self==self&&", 200) + "true",
	[]any{}, []any{"a", "a"}, []any{int64(1), nil}, tree.Tree{}, tree.Tree{"type": "object"}, tree.Tree{"type": "array", "items": tree.Tree{"type": "string"}}, tree.Tree{"$ref": "#/definitions/a"},
	tree.Tree{"x-kubernetes-preserve-unknown-fields": true}, tree.Tree{"rule": "self.size() >= 0"}, tree.Tree{"type": "object", "additionalProperties": tree.Tree{"type": "object", "additionalProperties": true}},
	tree.Tree{"type": "string", "x-kubernetes-validations": []any{tree.Tree{"rule": "self.size() < 10", "messageExpression": "self"}}},
}

type place struct {
	object tree.Tree
	list   []any
	key    string
	index  int
}

func (p place) value() any {
	if p.object != nil {
		return p.object[p.key]
	}
	return p.list[p.index]
}

func (p place) set(v any) {
	if p.object != nil {
		p.object[p.key] = v
	} else {
		p.list[p.index] = v
	}
}

func places(v any, all []place) []place {
	switch v := v.(type) {
	case tree.Tree:
		for _, key := range v.SortedKeys() {
			all = places(v[key], append(all, place{object: v, key: key}))
		}
	case []any:
		for i := range v {
			all = places(v[i], append(all, place{list: v, index: i}))
		}
	}
	return all
}

// edit applies edits to a CRD. Each edit has four bytes: an operation, a two-byte position, and a
// value.
func edit(definition tree.Tree, edits []byte) {
	for ; len(edits) >= 4; edits = edits[4:] {
		all := places(definition, nil)
		if len(all) == 0 || len(all) > 5000 {
			return
		}
		at := all[(int(edits[1])<<8|int(edits[2]))%len(all)]
		with := int(edits[3])
		switch edits[0] % 5 {
		case 0:
			at.set(tree.Clone(fuzzedValues[with%len(fuzzedValues)]))
		case 1: // copy another value
			at.set(tree.Clone(all[with*len(all)/256].value()))
		case 2:
			if at.object != nil {
				delete(at.object, at.key)
			}
		case 3: // repeat an item
			if list, ok := at.value().([]any); ok && len(list) > 0 {
				for range with % 64 {
					list = append(list, tree.Clone(list[0]))
				}
				at.set(list)
			}
		case 4: // add a copy of another member
			if object, ok := at.value().(tree.Tree); ok {
				if from := all[with*len(all)/256]; from.object != nil {
					object[from.key] = tree.Clone(from.value())
				}
			}
		}
	}
}

func sample(s tree.Tree, depth int) any {
	if values := s.List("enum"); len(values) > 0 {
		return values[0]
	}
	switch s.String("type") {
	case "object":
		o := tree.Tree{}
		for name := range s.Object("properties") {
			if depth > 0 {
				o[name] = sample(s.Object("properties", name), depth-1)
			}
		}
		return o
	case "array":
		item := sample(s.Object("items"), depth-1)
		return []any{item, item}
	case "integer":
		return int64(1)
	case "number":
		return 1.5
	case "boolean":
		return true
	}
	return "a"
}

func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// maxFuzzBytes limits the memory, and thereby the work, for a CRD of at most 256 KiB and its
// objects.
const maxFuzzBytes = 2 << 30

// FuzzDefinition checks that every CRD is either rejected or usable within maxFuzzBytes.
func FuzzDefinition(f *testing.F) {
	kinds := NewCatalog(f, meta.Kubernetes)
	k := kinds.ByGVK(meta.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	for i, s := range fuzzedSchemas {
		if _, faults := create(k, Parse(f, fuzzedDefinition(s))); len(faults) > 0 {
			f.Fatal(faults) // a rejected seed is useless
		}
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte{0, 0, 40, 30, 1, 0, 60, 100, 4, 0, 70, 128})
	}
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		definition := Parse(t, fuzzedDefinition(fuzzedSchemas[int(which)%len(fuzzedSchemas)]))
		edit(definition, edits[:min(len(edits), 64)])
		edited, err := json.Marshal(definition)
		if err != nil || len(edited) > 256<<10 {
			return
		}
		before := allocated()
		useDefinition(t, kinds, k, edited)
		if size := allocated() - before; size > maxFuzzBytes {
			t.Errorf("%d MiB for %s", size>>20, edited)
		}
	})
}

// useDefinition processes a CRD as the server does. If the CRD is valid, it also processes an
// object of each version.
func useDefinition(t *testing.T, kinds *catalog.Catalog, k *schema.Kind, text []byte) {
	obj, _, err := codec.DecodeJSON(k.Message(), text)
	if err != nil {
		return
	}
	obj, faults := create(k, obj)
	if len(faults) > 0 {
		return
	}
	d := kinds.Compile(obj)
	if d == nil {
		t.Fatalf("a valid definition has no kinds: %s", text)
	}
	defer d.Release()
	for i, version := range obj.Object("spec").Objects("versions") {
		if i < len(d.Stored.Versions) {
			useKind(t, kinds, d.Stored.Versions[i], version.Object("schema", "openAPIV3Schema"))
		}
	}
}

func useKind(t *testing.T, kinds *catalog.Catalog, k *schema.Kind, of tree.Tree) {
	body, _ := sample(of, 6).(tree.Tree)
	if body == nil {
		body = tree.Tree{}
	}
	body["apiVersion"], body["kind"], body["metadata"] = k.APIVersion(), k.Kind, tree.Tree{"name": "a"}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	object, _, err := codec.DecodeJSON(k.Message(), text)
	if err != nil {
		return
	}
	rules.Default(k, object)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var faults schema.Faults
	k.Strategy.ValidateServed(object, nil, &faults)
	k.Strategy.ValidateServed(object, object, &faults)
	if k.Strategy.HasExpressions() {
		k.Strategy.Evaluate(ctx, object, nil, &faults)
		k.Strategy.Evaluate(ctx, object, tree.Clone(object).(tree.Tree), &faults)
	}
	codec.EncodeJSON(k, object)
	documents := openapi.New(openapi.Options{Naming: kinds.Naming(), Kinds: []*schema.Kind{k}, Message: kinds.Message, Version: "v1", Patches: []string{"application/merge-patch+json"}})
	documents.V3("apis/" + k.Group + "/" + k.Version).Gzip(openapi.Protobuf)
	documents.V2().Gzip(openapi.JSON)
}

// FuzzSchedule checks that the schedule of a CronJob is either rejected or has a next time, or none
// ever.
func FuzzSchedule(f *testing.F) {
	for _, s := range []string{"* * * * *", "*/5 1-3 1,2 jan mon-fri", "@hourly", "@every 1h", "TZ=UTC 0 0 * * *", "CRON_TZ=", "TZ=", "@every -1s", "0 0 31 2 *", "? ? ? ? ?", "*/0 * * * *", "1-99999999999 * * * *"} {
		f.Add(s)
	}
	kinds := NewCatalog(f, meta.Kubernetes)
	k := kinds.ByGVK(meta.GroupVersionKind{Group: "batch", Version: "v1", Kind: "CronJob"})
	const text = `{"metadata":{"name":"x","namespace":"n"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`
	if _, faults := create(k, Parse(f, text)); len(faults) > 0 {
		f.Fatal(faults)
	}
	f.Fuzz(func(t *testing.T, s string) {
		object := Parse(t, text)
		object.Object("spec")["schedule"] = s
		if _, faults := create(k, object); len(faults) > 0 {
			return
		}
		schedule, err := cron.ParseStandard(s)
		if err != nil {
			t.Fatalf("%q is accepted: %v", s, err)
		}
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if next := schedule.Next(now); !next.IsZero() && !next.After(now) {
			t.Errorf("%q: the time after %v is %v", s, now, next)
		}
	})
}
