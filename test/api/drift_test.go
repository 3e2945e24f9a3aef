package api

import (
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/public"
)

// shared maps messages that are not kinds to their Go types.
var shared = map[string]any{
	"meta.v1.ListMeta":                  metav1.ListMeta{},
	"meta.v1.Status":                    metav1.Status{},
	"meta.v1.DeleteOptions":             metav1.DeleteOptions{},
	"meta.v1.WatchEvent":                metav1.WatchEvent{},
	"meta.v1.LabelSelector":             metav1.LabelSelector{},
	"meta.v1.PartialObjectMetadata":     metav1.PartialObjectMetadata{},
	"meta.v1.PartialObjectMetadataList": metav1.PartialObjectMetadataList{},
}

func TestFields(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, meta.Kubernetes)
	d := &driftComparison{T: t, done: map[string]bool{}, markers: map[string]Markers{}}
	for _, k := range c.Kinds() {
		if _, ok := public.Kinds[k.GroupVersionKind]; !ok {
			t.Errorf("%s %s has no public type to compare with", k.APIVersion(), k.Kind)
		}
	}
	for gvk, value := range public.Kinds {
		k := c.ByGVK(gvk)
		if k == nil {
			t.Errorf("%s %s is not declared", gvk.APIVersion(), gvk.Kind)
			continue
		}
		d.message(k.Message(), reflect.TypeOf(value))
	}
	for name, value := range shared {
		m := c.Message(name)
		if m == nil {
			t.Errorf("%s is not declared", name)
			continue
		}
		d.message(m, reflect.TypeOf(value))
	}
	if len(d.done) < 400 {
		t.Errorf("only %d messages were compared", len(d.done))
	}
}

type driftComparison struct {
	*testing.T
	done    map[string]bool
	markers map[string]Markers // by package path
}

func (d *driftComparison) message(m *schema.Message, t reflect.Type) {
	if d.done[m.Name] {
		return
	}
	d.done[m.Name] = true
	want, err := fieldsOfDrift(t, nil)
	if err != nil {
		d.Fatal(err)
	}
	var names, wanted []string
	fields := slices.DeleteFunc(slices.Clone(m.Fields), func(f *schema.Field) bool {
		return len(f.Wire) == 0
	})
	for _, f := range fields {
		names = append(names, f.Name)
	}
	for _, f := range want {
		wanted = append(wanted, f.name)
	}
	if !slices.Equal(names, wanted) {
		d.Errorf("%s: fields\n%v, want\n%v", m.Name, names, wanted)
		return
	}
	for i, f := range fields {
		d.field(m.Name+"."+f.Name, f, want[i])
	}
}

func (d *driftComparison) field(path string, f *schema.Field, want goField) {
	d.equal(path, "wire numbers", f.Wire, want.wire)
	d.equal(path, "pointer", f.Pointer, want.pointer)
	d.equal(path, "always", f.EmitEmpty, want.always)
	d.equal(path, "merge key", f.MergeKey, want.tag.Get("patchMergeKey"))
	d.equal(path, "merge strategies", strings.Join(f.MergeStrategies, ","), want.tag.Get("patchStrategy"))
	shape, elem := shapeOf(want.typ)
	d.equal(path, "shape", f.Shape, shape)
	d.equal(path, "type", f.Type, typeOf(elem))
	wireAlways := shape == schema.Single && !want.pointer && elem.Kind() != reflect.Slice
	d.equal(path, "always on the wire", f.WireEmitEmpty, wireAlways)
	markers := d.of(want.pkg)[want.path]
	listType := map[string]schema.ListType{"set": schema.ListSet, "map": schema.ListMap}[first(markers["listType"])]
	d.equal(path, "list type", f.ListType, listType)
	d.equal(path, "list map keys", strings.Join(f.ListMapKeys, ","), strings.Join(markers["listMapKey"], ","))
	d.equal(path, "atomic", f.MapAtomic, d.atomic(markers, want))
	if f.Type == schema.TypeMessage && elem.Kind() == reflect.Struct {
		d.message(f.Message, elem)
	}
}

// atomic reports whether a marker makes the field, or the items of a keyed list, atomic. The marker
// may be on the field or its type.
func (d *driftComparison) atomic(field map[string][]string, f goField) bool {
	own, typ := map[string][]string{}, f.typ
	if typ.Kind() == reflect.Slice && first(field["listType"]) == "map" {
		typ = typ.Elem()
	}
	if typ.PkgPath() != "" {
		own = d.of(typ.PkgPath())[typ.Name()]
	}
	if first(field["structType"]) == "granular" {
		return false
	}
	for _, name := range []string{"mapType", "structType"} {
		if first(field[name]) == "atomic" || first(own[name]) == "atomic" {
			return true
		}
	}
	return false
}

func (d *driftComparison) equal(path, label string, got, want any) {
	d.Helper()
	if !reflect.DeepEqual(got, want) {
		d.Errorf("%s: %s %v, want %v", path, label, got, want)
	}
}

func (d *driftComparison) of(pkg string) Markers {
	if m, ok := d.markers[pkg]; ok {
		return m
	}
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		d.Fatalf("%s: %v", pkg, err)
	}
	m, err := readMarkers(strings.TrimSpace(string(dir)))
	if err != nil {
		d.Fatal(err)
	}
	d.markers[pkg] = m
	return m
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func shapeOf(t reflect.Type) (schema.Shape, reflect.Type) {
	switch {
	case t.Kind() == reflect.Map:
		return schema.Map, t.Elem()
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return schema.List, t.Elem()
	}
	return schema.Single, t
}

// values maps Go types with a custom JSON encoding to the field types of package schema.
var values = map[string]schema.Type{
	"Time": schema.TypeTime, "MicroTime": schema.TypeMicroTime, "Quantity": schema.TypeQuantity,
	"IntOrString": schema.TypeIntOrString, "RawExtension": schema.TypeRaw, "FieldsV1": schema.TypeFields,
	"Duration": schema.TypeDuration, "JSON": schema.TypeRaw, "JSONSchemaPropsOrArray": schema.TypeRaw,
	"JSONSchemaPropsOrBool": schema.TypeRaw, "JSONSchemaPropsOrStringArray": schema.TypeRaw,
}

func typeOf(t reflect.Type) schema.Type {
	switch t.Kind() {
	case reflect.Bool:
		return schema.TypeBool
	case reflect.Int32:
		return schema.TypeInt32
	case reflect.Int, reflect.Int64:
		return schema.TypeInt64
	case reflect.Float64:
		return schema.TypeDouble
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return schema.TypeStrings
		}
		return schema.TypeBytes
	case reflect.Struct:
		if v, ok := values[t.Name()]; ok {
			return v
		}
		return schema.TypeMessage
	}
	return schema.TypeString
}
