package managedfields

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func storable() *schema.Kind {
	m := plan()
	metadata := m.Field("metadata").Message
	manager := schema.NewMessage("Manager", &schema.Field{Name: "manager"}, &schema.Field{Name: "operation"}, &schema.Field{Name: "apiVersion"},
		&schema.Field{Name: "time"}, &schema.Field{Name: "fieldsType"}, &schema.Field{Name: "fieldsV1", Type: schema.TypeFields}, &schema.Field{Name: "subresource"})
	list := func() *schema.Field {
		return &schema.Field{Name: "managedFields", Shape: schema.List, Type: schema.TypeMessage, Message: manager}
	}
	metadata.Fields = append(metadata.Fields, &schema.Field{Name: "resourceVersion"}, list())
	metadata.Index()
	inner := m.Field("inner").Message
	inner.Fields = append(inner.Fields, list()) // a field of the same name that is not managed
	inner.Index()
	k := &schema.Kind{Declared: schema.DeclarationOf(m)}
	k.Version, k.Kind = "v1", "Object"
	return k
}

// TestIsNoOpApplyAgreesWithApply checks that Apply changes nothing when IsNoOpApply returns true,
// and that most repeated applies are recognized.
func TestIsNoOpApplyAgreesWithApply(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	k := storable()
	versions := func(apiVersion string) (ServedVersion, bool) {
		return ServedVersion{Message: k.Message()}, apiVersion == "v1"
	}
	stood, all := 0, 0
	for range 6000 {
		config, live := randomConfig(random, k.Message()), randomConfig(random, k.Message())
		if config == nil || live == nil {
			continue
		}
		w := writerOf([...]string{"a", `b"<`, "c"}[random.IntN(3)])
		w.Subresource = [...]string{"", "", "status"}[random.IntN(3)]
		managed := Update(writerOf("other"), versions, nil, live, nil, false)
		if random.IntN(2) == 0 { // another manager that owns some of the fields, or differs otherwise
			managed = append(managed, tree.Tree{"manager": w.Manager, "operation": opApply, "apiVersion": "v1", "time": w.Now,
				"fieldsType": "FieldsV1", "fieldsV1": encodeFields(k.Message(), config, w.excluded(), false), "subresource": w.Subresource})
			if live = combineTrees(k.Message(), live, config); random.IntN(2) == 0 {
				live = mutated(random, live).(tree.Tree)
			}
		}
		for range random.IntN(3) {
			made, by, err := Apply(w, versions, live, config, managed, true)
			if err != nil {
				t.Fatal(err)
			}
			live, managed = made, by
			if random.IntN(4) == 0 { // another manager writes in between
				w.Manager, config = "z", randomConfig(random, k.Message())
			}
			if config == nil {
				break
			}
		}
		if config == nil {
			continue
		}
		stored := tree.Clone(live).(tree.Tree)
		if stored.EnsureObject("metadata")["managedFields"] = managed; managed == nil {
			delete(stored.Object("metadata"), "managedFields")
		}
		json := codec.EncodeJSON(k, stored).WithVersion(7)
		stands := IsNoOpApply(w, k.Message(), json, config)
		object, err := codec.DecodeStored(k.Message(), json)
		if err != nil {
			t.Fatal(err)
		}
		w.Now = "2031-01-01T00:00:00Z"
		list := object.Object("metadata").List("managedFields")
		made, by, err := Apply(w, versions, object, config, list, false)
		left := err == nil && tree.SameRef(made, object) && tree.SameRef(by, list)
		if stands && !left {
			t.Fatalf("%s by %s\nstands in\n%s, but becomes\n%s", codec.AppendAny(nil, config), w.Manager, json, codec.AppendAny(nil, made))
		}
		for i := range json { // truncated JSON must not panic
			if IsNoOpApply(w, k.Message(), json[:i], config) && !stands {
				t.Fatalf("%s stands in a part of what it does not stand in", codec.AppendAny(nil, config))
			}
		}
		if left {
			all++
		}
		if stands {
			stood++
		}
	}
	t.Logf("%d of %d stand by their JSON", stood, all)
	if stood < all/3 || stood < 200 {
		t.Errorf("only %d of %d that an apply leaves alone stand by their JSON", stood, all)
	}
}

func randomConfig(random *rand.Rand, m *schema.Message) tree.Tree {
	text := codec.AppendValue(nil, m, randomObject(random, m))
	object, _, err := codec.DecodeJSON(m, text)
	if err != nil || CheckConfig(m, object, nil) != "" {
		return nil
	}
	metadata := object.EnsureObject("metadata")
	for _, name := range []string{"resourceVersion", "uid", "managedFields"} {
		delete(metadata, name)
	}
	object["apiVersion"], object["kind"], metadata["name"] = "v1", "Object", "n"
	for name := range object {
		if random.IntN(2) == 0 && !slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			delete(object, name)
		}
	}
	return object
}

func mutated(random *rand.Rand, v any) any {
	switch v := tree.Clone(v).(type) {
	case tree.Tree:
		for name, e := range v {
			switch {
			case name == "apiVersion" || name == "kind" || random.IntN(2) == 0:
			case name != "metadata" && random.IntN(4) == 0:
				delete(v, name)
				return v
			default:
				v[name] = mutated(random, e)
				return v
			}
		}
		return v
	case []any:
		if len(v) == 0 {
			return v
		}
		if i := random.IntN(len(v)); random.IntN(2) == 0 {
			v[i] = mutated(random, v[i])
		} else {
			v = slices.Delete(v, i, i+1)
		}
		return v
	case string:
		return v + "-"
	case int64:
		return v + 1
	}
	return v
}

func TestIsNoOpApply(t *testing.T) {
	k := storable()
	const fields = `{"f:text":{}}`
	entry := func(operation, apiVersion, subresource, fields string) string {
		return `[{"manager":"z","operation":"Apply","apiVersion":"v1","fieldsV1":{"f:map":{}}},{"manager":"w","operation":"` + operation +
			`","apiVersion":"` + apiVersion + `","fieldsV1":` + fields + subresource + `}]`
	}
	mine := entry("Apply", "v1", "", fields)
	object := func(managers, rest string) string {
		return `{"kind":"Object","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"1","managedFields":` + managers + `}` + rest + `}`
	}
	itemsOf := func(list string) string {
		return object(entry("Apply", "v1", "", `{"f:items":{"k:{\"kind\":\"K\",\"name\":\"a\"}":{".":{},"f:name":{}}}}`), `,"items":[`+list+`]`)
	}
	items := func(kind string) string { return itemsOf(`{"name":"a","kind":"` + kind + `"}`) }
	for name, c := range map[string]struct {
		object, config string
		want           bool
	}{
		"the same":                  {object(mine, `,"text":"a","map":{"x":"\\"}`), `"text":"a"`, true},
		"with an escape":            {object(mine, `,"text":"a\"\\"`), `"text":"a\"\\"`, true},
		"another value":             {object(mine, `,"text":"b"`), `"text":"a"`, false},
		"the start of a value":      {object(mine, `,"text":"ab"`), `"text":"a"`, false},
		"what looks like an escape": {object(mine, `,"text":"a\\"`), `"text":"a\\\\"`, false},
		"what looks like two":       {object(entry("Apply", "v1", "", `{"f:map":{"f:a":{}}}`), `,"map":{"a":"x","b":"y"}`), `"map":{"a":"x\",\"b\":\"y"}`, false},
		"none":                      {object(mine, ``), `"text":"a"`, false},
		"fields of more":            {object(entry("Apply", "v1", "", `{"f:map":{},"f:text":{}}`), `,"text":"a"`), `"text":"a"`, false},
		"an update":                 {object(entry("Update", "v1", "", fields), `,"text":"a"`), `"text":"a"`, false},
		"another version":           {object(entry("Apply", "v2", "", fields), `,"text":"a"`), `"text":"a"`, false},
		"a sub-resource":            {object(entry("Apply", "v1", `,"subresource":"status"`, fields), `,"text":"a"`), `"text":"a"`, false},
		"managers of something else": {`{"kind":"Object","apiVersion":"v1","metadata":{"name":"n"},"inner":{"a":"1","managedFields":` +
			entry("Apply", "v1", "", `{"f:inner":{"f:a":{}}}`) + `}}`, `"inner":{"a":"1"}`, false},
		"a key by its default": {items("K"), `"items":[{"name":"a"}]`, true},
		"another key":          {items("J"), `"items":[{"name":"a"}]`, false},
		"items of others":      {itemsOf(`{"name":"b","kind":"K"},{"name":"a","kind":"K"},{"name":"a","kind":"L"}`), `"items":[{"name":"a"}]`, true},
		"items of others only": {itemsOf(`{"name":"b","kind":"K"},{"name":"a","kind":"L"}`), `"items":[{"name":"a"}]`, false},
		"an item twice":        {itemsOf(`{"name":"a","kind":"K"},{"name":"a","kind":"K","value":"x"}`), `"items":[{"name":"a"}]`, false},
		"the second of two":    {itemsOf(`{"name":"a","kind":"K","value":"x"},{"name":"a","kind":"K"}`), `"items":[{"name":"a","value":"y"}]`, false},
		"a key of no scalar":   {itemsOf(`{"name":{},"kind":"K"},{"name":"a","kind":"K"}`), `"items":[{"name":"a"}]`, false},
		"values of others":     {object(entry("Apply", "v1", "", `{"f:set":{"v:\"a\"":{}}}`), `,"set":["c","a","b"]`), `"set":["a"]`, true},
		"the value twice":      {object(entry("Apply", "v1", "", `{"f:set":{"v:\"a\"":{}}}`), `,"set":["a","a"]`), `"set":["a"]`, false},
	} {
		config := parseTree(t, `{"kind":"Object","apiVersion":"v1","metadata":{"name":"n"},`+c.config+`}`)
		if got := IsNoOpApply(writerOf("w"), k.Message(), []byte(c.object), config); got != c.want {
			t.Errorf("%s: %s in\n%s: %v", name, c.config, c.object, got)
		}
	}
}
