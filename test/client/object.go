package client

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Object is an object of any kind, decoded from JSON.
type Object map[string]any

func parse(text []byte) (o Object, err error) {
	err = json.Unmarshal(text, &o)
	return o, err
}

// ConfigMap returns a ConfigMap to create. labels and data may be nil.
func ConfigMap(name string, labels, data map[string]string) Object {
	metadata := map[string]any{"name": name}
	if labels != nil {
		metadata["labels"] = labels
	}
	return Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
}

// ConfigMapText returns the JSON of a ConfigMap. Each item of data is a JSON member of its data
// field.
func ConfigMapText(name string, data ...string) string {
	if len(data) == 0 {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q}}`, name)
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{%s}}`, name, strings.Join(data, ","))
}

// Metadata returns the metadata, which is never nil.
func (o Object) Metadata() map[string]any {
	m, _ := o["metadata"].(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	return m
}

func (o Object) text(field string) string {
	s, _ := o.Metadata()[field].(string)
	return s
}

// Name returns metadata.name.
func (o Object) Name() string { return o.text("name") }

func (o Object) Namespace() string { return o.text("namespace") }

// Key returns namespace/name.
func (o Object) Key() string { return o.Namespace() + "/" + o.text("name") }

// UID returns metadata.uid.
func (o Object) UID() string { return o.text("uid") }

// Version returns metadata.resourceVersion, or 0 if it is missing or invalid.
func (o Object) Version() uint64 {
	v, err := strconv.ParseUint(o.text("resourceVersion"), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// Label returns the value of a label, or "" if it is missing.
func (o Object) Label(name string) string {
	labels, _ := o.Metadata()["labels"].(map[string]any)
	s, _ := labels[name].(string)
	return s
}

// At returns the value at a path such as "spec.replicas", or nil if it is missing.
func (o Object) At(path string) any {
	var v any = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// Data returns data[name] of a ConfigMap, or "" if it is missing.
func (o Object) Data(name string) string {
	data, _ := o["data"].(map[string]any)
	s, _ := data[name].(string)
	return s
}

// String returns canonical JSON, which is the same for equal objects.
func (o Object) String() string {
	text, err := json.Marshal(map[string]any(o))
	if err != nil {
		return fmt.Sprintf("%#v", o)
	}
	return string(text)
}

// List is a list of objects, or one page of it.
type List struct {
	Version  uint64
	Continue string // continue token for the next page; "" on the last page
	Items    []Object
}

func parseList(text []byte) (List, error) {
	var wire struct {
		Metadata struct{ ResourceVersion, Continue string }
		Items    []Object
	}
	if err := json.Unmarshal(text, &wire); err != nil {
		return List{}, err
	}
	version, err := strconv.ParseUint(wire.Metadata.ResourceVersion, 10, 64)
	return List{version, wire.Metadata.Continue, wire.Items}, err
}

// A Fataler has the methods of testing.TB and *rapid.T that Encode and Decode need.
type Fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// Encode returns v as JSON, or fails the test.
func Encode(t Fataler, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Decode decodes JSON into v, or fails the test.
func Decode[T ~string | ~[]byte](t Fataler, text T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
