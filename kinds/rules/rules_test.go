package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func parseTree(t testing.TB, text string) tree.Tree {
	t.Helper()
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v.(tree.Tree)
}

// expect compares causes as "path: message"; a want that ends in … is a prefix.
func expect(t *testing.T, what string, causes []meta.Cause, want []string) {
	t.Helper()
	got := make([]string, len(causes))
	for i, c := range causes {
		got[i] = c.Field + ": " + c.Message
	}
	same := slices.EqualFunc(got, want, func(g, w string) bool {
		if begin, ok := strings.CutSuffix(w, "…"); ok {
			return strings.HasPrefix(g, begin)
		}
		return g == w
	})
	if !same {
		t.Errorf("%s:\n got  %s\n want %s", what, strings.Join(got, "\n      "), strings.Join(want, "\n      "))
	}
}

func TestMetadata(t *testing.T) {
	k := &schema.Kind{Namespaced: true, Strategy: schema.DefaultStrategy{}}
	big := strings.Repeat("x", rules.MaxAnnotationsSize)
	for _, c := range []struct {
		metadata string
		want     []string
	}{
		{`{"name":"a.b-c","namespace":"ns"}`, nil},
		{`{"generateName":"a-","namespace":"ns"}`, nil},
		{`{}`, []string{`metadata.name: Required value: name or generateName is required`, `metadata.namespace: Required value`}},
		{`{"name":"Bad_Name","namespace":"ns"}`, []string{`metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`}},
		{`{"generateName":"A-","name":"a","namespace":"N.s"}`, []string{`metadata.generateName: Invalid value: "A-": a lowercase RFC 1123 subdomain…`, `metadata.namespace: Invalid value: "N.s": a lowercase RFC 1123 label…`}},
		{`{"name":"` + strings.Repeat("a", 254) + `","namespace":"ns"}`, []string{`metadata.name: Invalid value: "aaa…`}},
		{`{"name":"a","namespace":"ns","generation":-1}`, []string{`metadata.generation: Invalid value: -1: must be greater than or equal to 0`}},
		{`{"name":"a","namespace":"ns","labels":{"a b":"c d","x/y":"ok","":""}}`, []string{`metadata.labels: Invalid value: "": name part must be non-empty`, `metadata.labels: Invalid value: "": name part must consist…`,
			`metadata.labels: Invalid value: "a b": name part must consist…`, `metadata.labels: Invalid value: "c d": a valid label must be an empty string…`}},
		{`{"name":"a","namespace":"ns","annotations":{"a b":"c"}}`, []string{`metadata.annotations: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`}},
		{`{"name":"a","namespace":"ns","annotations":{"Example.COM/Key":"any text"}}`, nil},
		{`{"name":"a","namespace":"ns","annotations":{"k":"` + big[1:] + `"}}`, nil},
		{`{"name":"a","namespace":"ns","annotations":{"k":"` + big + `"}}`, []string{`metadata.annotations: Too long: may not be more than 262144 bytes`}},
		{`{"name":"a","namespace":"ns","finalizers":["nodomain","orphan","e.com/x","kubernetes"]}`, []string{`metadata.finalizers[0]: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified`}},
		{`{"name":"a","namespace":"ns","finalizers":["orphan","foregroundDeletion"]}`, []string{`metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set`}},
		{`{"name":"a","namespace":"ns","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x"}]}`, []string{`metadata.ownerReferences.uid: Invalid value: "": must not be empty`}},
		{`{"name":"a","namespace":"ns","ownerReferences":[{}]}`, []string{`metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty`,
			`metadata.ownerReferences.kind: Invalid value: "": must not be empty`, `metadata.ownerReferences.name: Invalid value: "": must not be empty`, `metadata.ownerReferences.uid: Invalid value: "": must not be empty`}},
		{`{"name":"a","namespace":"ns","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"1","controller":true},{"apiVersion":"v1","kind":"Pod","name":"y","uid":"2","controller":true}]}`,
			[]string{`metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","controller":true…`}},
		{`{"name":"a","namespace":"ns","managedFields":[{"operation":"Apply"},{"operation":"X","fieldsType":"Y"}]}`, []string{
			"metadata.managedFields[1].operation: Invalid value: \"X\": must be `Apply` or `Update`", "metadata.managedFields[1].fieldsType: Invalid value: \"Y\": must be `FieldsV1`"}},
		{`{"name":"a","namespace":"ns","managedFields":[{"operation":"Apply","manager":"` + strings.Repeat("m", 129) + `","subresource":"` + strings.Repeat("s", 257) + `"}]}`, []string{
			`metadata.managedFields[0].manager: Too long: may not be more than 128 bytes`, `metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes`}},
		{`{"name":"a","namespace":"ns","generation":0,"finalizers":["foregroundDeletion","platform"],"managedFields":[{"operation":"Update","fieldsType":"FieldsV1","manager":"` + strings.Repeat("m", 128) + `","subresource":"` + strings.Repeat("s", 256) + `"}],
			"ownerReferences":[{"apiVersion":"e.com/v1","kind":"Event","name":"x","uid":"u","controller":true},{"apiVersion":"v1","kind":"Pod","name":"y","uid":"v"}]}`, nil},
		{`{"name":"a","namespace":"ns","ownerReferences":[{"apiVersion":"a/","kind":"K","name":"x","uid":"u"},{"apiVersion":"a/b/c","kind":"K","name":"y","uid":"v"}]}`, []string{
			`metadata.ownerReferences.apiVersion: Invalid value: "a/": version must not be empty`, `metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty`}},
		{`{"generateName":"-","namespace":"ns"}`, []string{`metadata.generateName: Invalid value: "-": a lowercase…`}},
		{`{"name":"a","namespace":"ns","annotations":{"/b":"c"}}`, []string{`metadata.annotations: Invalid value: "/b": prefix part must be non-empty`}},
		{`{"name":"a","namespace":"ns","finalizers":["e.com/a b"]}`, []string{`metadata.finalizers: Invalid value: "e.com/a b": name part must consist…`}},
		{`{"name":"a","namespace":"ns","ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"x","uid":"u"}]}`, []string{`metadata.ownerReferences: Invalid value: {"apiVersion":"v1",…`}},
	} {
		name := c.metadata[:min(len(c.metadata), 120)]
		expect(t, name, rules.Validate(k, tree.Tree{"metadata": parseTree(t, c.metadata)}), c.want)
	}
	cluster := &schema.Kind{NameFormat: schema.NamePathSegment, Strategy: schema.DefaultStrategy{}}
	expect(t, "slash", rules.Validate(cluster, parseTree(t, `{"metadata":{"name":"a/b"}}`)), []string{`metadata.name: Invalid value: "a/b": may not contain '/'`})
	expect(t, "colon", rules.Validate(cluster, parseTree(t, `{"metadata":{"name":"system:x"}}`)), nil)
}

func TestMetadataUpdate(t *testing.T) {
	k := &schema.Kind{Namespaced: true, Strategy: schema.DefaultStrategy{}}
	const old = `{"name":"a","namespace":"n","uid":"1","generation":2,"creationTimestamp":"2026-01-01T00:00:00Z"}`
	const dying = `{"name":"a","namespace":"n","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["e.com/a","e.com/b"]}`
	for _, c := range []struct {
		old, now string
		want     []string
	}{
		{old, old, nil},
		{old, `{"name":"a","namespace":"n"}`, nil},
		{old, `{"name":"b","namespace":"m","uid":"2","generation":1,"creationTimestamp":"2027-01-01T00:00:00Z"}`, []string{
			`metadata.generation: Invalid value: 1: must not be decremented`, `metadata.name: Invalid value: "b": field is immutable`,
			`metadata.namespace: Invalid value: "m": field is immutable`, `metadata.uid: Invalid value: "2": field is immutable`,
			`metadata.creationTimestamp: Invalid value: "2027-01-01T00:00:00Z": field is immutable`}},
		{dying, `{"name":"a","namespace":"n","finalizers":["e.com/b"]}`, nil},
		{dying, `{"name":"a","namespace":"n","finalizers":["e.com/a","e.com/c"]}`, []string{
			`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"e.com/c"}`}},
		{old, `{"name":"a","namespace":"n","deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":3}`, []string{
			`metadata.deletionTimestamp: Invalid value: "2026-01-01T00:00:00Z": field is immutable`, `metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable`}},
	} {
		now := tree.Tree{"metadata": parseTree(t, c.now)}
		expect(t, c.now, rules.ValidateUpdate(k, now, tree.Tree{"metadata": parseTree(t, c.old)}), c.want)
	}
}

func ptr(n int64) *int64 { return &n }

// sample returns a kind with one field for every rule of a plan.
func sample(t *testing.T) *schema.Kind {
	t.Helper()
	item := &schema.Message{Name: "t.Item", Fields: []*schema.Field{
		{Name: "name", Required: true},
		{Name: "port", Type: schema.TypeInt32, Min: ptr(1), Max: ptr(9)},
		{Name: "mode", Default: "rw"},
	}}
	spec := &schema.Message{Name: "t.Spec", Fields: []*schema.Field{
		{Name: "size", Type: schema.TypeInt64, Min: ptr(0)},
		{Name: "count", Type: schema.TypeInt64, Min: ptr(1)},
		{Name: "must", Type: schema.TypeInt64, Min: ptr(1), Required: true},
		{Name: "top", Type: schema.TypeInt64, Max: ptr(5)},
		{Name: "kind", Enum: []string{"A", "B"}, Default: "A"},
		{Name: "level", Pointer: true, Enum: []string{"", "X"}},
		{Name: "text", MinLength: 2, MaxLength: 4, Pattern: "^a"},
		{Name: "host", Format: "dns1123Label", Immutable: true},
		{Name: "sets", Shape: schema.List, ListType: schema.ListSet, MaxItems: 3},
		{Name: "modes", Shape: schema.List, Enum: []string{"r", "w"}},
		{Name: "items", Shape: schema.List, ListType: schema.ListMap, ListMapKeys: []string{"name"}, Type: schema.TypeMessage, Message: item},
		{Name: "pairs", Shape: schema.List, ListType: schema.ListMap, ListMapKeys: []string{"name", "port"}, Type: schema.TypeMessage, Message: item},
		{Name: "byKey", Shape: schema.Map, Type: schema.TypeMessage, Message: item, MaxItems: 2},
		{Name: "inner", Type: schema.TypeMessage, Message: item, Default: tree.Tree{"name": "d"}},
	}}
	item.Index()
	spec.Index()
	k := &schema.Kind{Strategy: schema.DefaultStrategy{}, Declared: schema.NewMessage("t.T", &schema.Field{Name: "spec", Type: schema.TypeMessage, Message: spec, Required: true})}
	if err := rules.Compile(nil, k.Message()); err != nil {
		t.Fatal(err)
	}
	return k
}

func withRequired(spec tree.Tree) tree.Tree {
	if _, ok := spec["must"]; !ok {
		spec["must"] = int64(1)
	}
	return spec
}

func TestPlanRules(t *testing.T) {
	k := sample(t)
	for _, c := range []struct {
		spec string
		want []string
	}{
		{`{}`, nil},
		{`{"size":-1,"count":0,"top":6}`, []string{`spec.size: Invalid value: -1: must be greater than or equal to 0`, `spec.top: Invalid value: 6: must be less than or equal to 5`}},
		{`{"must":0}`, []string{`spec.must: Invalid value: 0: must be greater than zero`}},
		{`{"must":null}`, []string{`spec.must: Required value`}},
		{`{"count":-1}`, []string{`spec.count: Invalid value: -1: must be greater than zero`}},
		{`{"kind":"C","level":"Y"}`, []string{`spec.kind: Unsupported value: "C": supported values: "A", "B"`, `spec.level: Unsupported value: "Y": supported values: "X"`}},
		{`{"kind":"","level":""}`, nil},
		{`{"text":"a"}`, []string{`spec.text: Invalid value: "a": must be at least 2 bytes`}},
		{`{"text":"bbbbb","host":"-"}`, []string{`spec.text: Too long: may not be more than 4 bytes`, `spec.text: Invalid value: "bbbbb": must match the regular expression '^a'`, `spec.host: Invalid value: "-": a lowercase RFC 1123 label…`}},
		{`{"sets":["a","b","a","c"]}`, []string{`spec.sets: Too many: 4: must have at most 3 items`, `spec.sets[2]: Duplicate value: "a"`}},
		{`{"modes":["r","x"]}`, []string{`spec.modes: Unsupported value: "x": supported values: "r", "w"`}},
		{`{"items":[{"name":"a"},{"name":"a","port":10},{}]}`, []string{`spec.items[1].port: Invalid value: 10: must be between 1 and 9, inclusive`, `spec.items[2].name: Required value`, `spec.items[1].name: Duplicate value: "a"`}},
		{`{"pairs":[{"name":"a","port":1},{"name":"a","port":2},{"name":"a","port":1}]}`, []string{`spec.pairs[2]: Duplicate value: {"name":"a","port":1}`}},
		{`{"byKey":{"a/b":{},"c":{"name":"x"},"d":{"name":"x"}}}`, []string{`spec.byKey: Too many: 3: must have at most 2 items`, `spec.byKey[a/b].name: Required value`}},
	} {
		expect(t, c.spec, rules.Validate(k, tree.Tree{"metadata": parseTree(t, `{"name":"x"}`), "spec": withRequired(parseTree(t, c.spec))}), c.want)
	}
	expect(t, "no spec", rules.Validate(k, parseTree(t, `{"metadata":{"name":"x"}}`)), []string{`spec: Required value`})
	k.Strategy = validating{validate: func(f *schema.Faults) {
		f.Invalid("spec.size", int64(-1), "closer words")
		f.Forbidden("spec.size", "another type")
	}}
	expect(t, "own words", rules.Validate(k, parseTree(t, `{"metadata":{"name":"x"},"spec":{"must":1,"size":-1,"top":6}}`)), []string{
		`spec.size: Invalid value: -1: closer words`, `spec.size: Forbidden: another type`, `spec.top: Invalid value: 6: must be less than or equal to 5`})
}

func TestImmutable(t *testing.T) {
	k := sample(t)
	old := parseTree(t, `{"metadata":{"name":"x"},"spec":{"host":"a"}}`)
	expect(t, "changed", rules.ValidateUpdate(k, parseTree(t, `{"metadata":{"name":"x"},"spec":{"host":"b"}}`), old), []string{`spec.host: Invalid value: "b": field is immutable`})
	expect(t, "removed", rules.ValidateUpdate(k, parseTree(t, `{"metadata":{"name":"x"},"spec":{}}`), old), []string{`spec.host: Invalid value: null: field is immutable`})
	expect(t, "kept", rules.ValidateUpdate(k, parseTree(t, `{"metadata":{"name":"x"},"spec":{"host":"a","size":1}}`), old), nil)
}

type validating struct {
	schema.DefaultStrategy
	validate func(f *schema.Faults)
}

func (s validating) Validate(_, _ tree.Tree, f *schema.Faults) { s.validate(f) }

type markingSeen struct{ schema.DefaultStrategy }

func (markingSeen) Default(obj tree.Tree) { obj["seen"] = obj.Object("spec").String("kind") }

func TestDefault(t *testing.T) {
	k := sample(t)
	k.Strategy = markingSeen{}
	obj := parseTree(t, `{"spec":{"kind":"","items":[{"name":"a"},{"name":"b","mode":"r"}],"byKey":{"k":{}}}}`)
	rules.Default(k, obj)
	want := parseTree(t, `{"seen":"A","spec":{"kind":"A","items":[{"name":"a","mode":"rw"},{"name":"b","mode":"r"}],"byKey":{"k":{"mode":"rw"}},"inner":{"name":"d","mode":"rw"}}}`)
	if !tree.SemanticEqual(obj, want) {
		t.Errorf("got %v", obj)
	}
	again := tree.Tree{"spec": tree.Tree{}}
	obj.Object("spec", "inner")["name"] = "changed"
	rules.Default(k, again)
	if got := again.Object("spec", "inner").String("name"); got != "d" {
		t.Errorf("a default is shared between objects: %s", got)
	}
}

func TestSemanticEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"v":{}}`, `{}`, true}, {`{"v":{"a":{}}}`, `{}`, true}, {`{"v":[]}`, `{"v":null}`, true}, {`{"v":0}`, `{}`, true},
		{`{"v":[1]}`, `{"v":[1,2]}`, false}, {`{"v":{"a":1}}`, `{"v":"a"}`, false}, {`{"v":"a"}`, `{"v":{"a":1}}`, false},
		{`{"v":[1,{"a":""}]}`, `{"v":[1,{}]}`, true}, {`{}`, `{"v":{"a":[{}]}}`, false}, {`{"v":1}`, `{"v":true}`, false},
	} {
		if got := tree.SemanticEqual(parseTree(t, c.a), parseTree(t, c.b)); got != c.want {
			t.Errorf("Equal(%s, %s) = %t", c.a, c.b, got)
		}
	}
}
