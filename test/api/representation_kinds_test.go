package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/public"
)

const (
	representationJsonType = "application/json"
	yamlType               = "application/yaml"
	protobufType           = "application/vnd.kubernetes.protobuf"
	watchType              = protobufType + ";stream=watch"
)

// as returns the media type of a representation that all kinds share, such as Table.
func as(media, kind, version string) string {
	return media + ";as=" + kind + ";g=meta.k8s.io;v=" + version
}

// TestEveryKind checks that testdata contains an object of each stored kind, and that all
// representations of each object agree.
func TestEveryKind(t *testing.T) {
	t.Parallel()
	c, a := newCatalog(t, meta.Kubernetes), serveRepresentation(t)
	seen := map[string]bool{}
	for _, o := range objects(t, c) {
		seen[o.String()] = true
		t.Run(o.String(), func(t *testing.T) {
			a.create(t, o)
			want := treeRepresentation(t, a.get(t, o.path(), representationJsonType, representationJsonType))
			a.checkSingle(t, o, want)
			a.checkList(t, o, want)
			a.checkWatch(t, o, want)
			a.checkCBOR(t, o, want)
		})
	}
	for _, k := range c.Kinds() {
		if name := k.APIVersion() + "/" + k.Kind; !k.Virtual() && !seen[name] {
			t.Errorf("testdata/representation/objects.yaml has no %s", name)
		}
	}
}

func (a *requester) checkSingle(t *testing.T, o representationObject, want map[string]any) {
	t.Helper()
	sameRepresentation(t, "YAML", fromYAML(t, a.get(t, o.path(), yamlType, yamlType)), want)
	body := a.get(t, o.path(), protobufType, protobufType)
	sameRepresentation(t, "Protobuf", o.fromProtobuf(t, body), o.through(t, want))
	for _, version := range []string{"v1", "v1beta1"} {
		partial := partialOf(want, version)
		sameRepresentation(t, "metadata "+version, treeRepresentation(t, a.get(t, o.path(), as(representationJsonType, "PartialObjectMetadata", version), representationJsonType)), partial)
		body := a.get(t, o.path(), as(protobufType, "PartialObjectMetadata", version), protobufType)
		sameRepresentation(t, "metadata in Protobuf "+version, partialFromProtobuf(t, body), typedRepresentation(t, partial, &metav1.PartialObjectMetadata{}))
		for include, object := range map[string]any{"None": nil, "Metadata": any(partial), "Object": any(want)} {
			table := treeRepresentation(t, a.get(t, o.path()+"?includeObject="+include, as(representationJsonType, "Table", version), representationJsonType))
			checkTable(t, table, version, object, 1)
		}
		table := fromYAML(t, a.get(t, o.path(), as(yamlType, "Table", version), yamlType))
		checkTable(t, table, version, partial, 1)
	}
}

// checkList requests a list that contains only the object.
func (a *requester) checkList(t *testing.T, o representationObject, want map[string]any) {
	t.Helper()
	path := o.collection() + "?fieldSelector=metadata.name%3D" + o.name
	item := map[string]any{}
	for name, v := range want {
		if name != "kind" && name != "apiVersion" {
			item[name] = v
		}
	}
	list := treeRepresentation(t, a.get(t, path, representationJsonType, representationJsonType))
	sameRepresentation(t, "list", list["items"], []any{item})
	sameRepresentation(t, "list kind", []any{list["kind"], list["apiVersion"]}, []any{o.kind.Kind + "List", o.kind.APIVersion()})
	// Request the same version again, because the server's own controllers may write in between.
	revision, _ := list["metadata"].(map[string]any)["resourceVersion"].(string)
	atRevision := path + "&resourceVersionMatch=Exact&resourceVersion=" + revision
	sameRepresentation(t, "YAML list", fromYAML(t, a.get(t, atRevision, yamlType, yamlType)), list)
	items := protobufItems(t, a.get(t, path, protobufType, protobufType), o.kind.Kind+"List", o.kind.APIVersion())
	if len(items) != 1 {
		t.Fatalf("Protobuf list of %d items", len(items))
	}
	sameRepresentation(t, "Protobuf list", o.decode(t, items[0]), o.through(t, item))
	for _, version := range []string{"v1", "v1beta1"} {
		partial := partialOf(want, version)
		accept := as(representationJsonType, "PartialObjectMetadataList", version)
		sameRepresentation(t, "metadata list", treeRepresentation(t, a.get(t, path, accept, representationJsonType))["items"], []any{partial})
		accept = as(protobufType, "PartialObjectMetadataList", version)
		items := protobufItems(t, a.get(t, path, accept, protobufType), "PartialObjectMetadataList", "meta.k8s.io/"+version)
		if len(items) != 1 {
			t.Fatalf("metadata list of %d items in Protobuf", len(items))
		}
		table := treeRepresentation(t, a.get(t, path, as(representationJsonType, "Table", version), representationJsonType))
		checkTable(t, table, version, partial, 1)
	}
}

// checkTable checks the properties common to all tables, and the object of each row.
func checkTable(t *testing.T, table map[string]any, version string, object any, rows int) {
	t.Helper()
	if table["kind"] != "Table" || table["apiVersion"] != "meta.k8s.io/"+version {
		t.Errorf("not a Table: %v", table)
	}
	columns, _ := table["columnDefinitions"].([]any)
	all, _ := table["rows"].([]any)
	if len(all) != rows || len(columns) == 0 {
		t.Fatalf("table of %d columns and %d rows: %v", len(columns), len(all), table)
	}
	for _, r := range all {
		row := r.(map[string]any)
		if cells := row["cells"].([]any); len(cells) != len(columns) {
			t.Errorf("%d cells in %d columns: %v", len(cells), len(columns), cells)
		}
		sameRepresentation(t, "object of the row", row["object"], object)
	}
}

func partialOf(o map[string]any, version string) map[string]any {
	return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/" + version, "metadata": o["metadata"]}
}

func treeRepresentation(t *testing.T, body []byte) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return v
}

func fromYAML(t *testing.T, body []byte) map[string]any {
	t.Helper()
	text, err := yaml.YAMLToJSONStrict(body)
	if err != nil {
		t.Fatalf("%v in\n%s", err, body)
	}
	return treeRepresentation(t, text)
}

func sameRepresentation(t *testing.T, label string, got, want any) {
	t.Helper()
	if g, w := textRepresentation(t, got), textRepresentation(t, want); g != w {
		t.Errorf("%s: got\n%s\nwant\n%s", label, g, w)
	}
}

func textRepresentation(t *testing.T, v any) string {
	t.Helper()
	b := client.Encode(t, v)
	return string(b)
}

func typedRepresentation(t *testing.T, o map[string]any, to any) any {
	t.Helper()
	client.Decode(t, textRepresentation(t, o), to)
	return to
}

// unwrap returns the message in the envelope of a Protobuf body.
func unwrap(t *testing.T, body []byte, kind, apiVersion string) []byte {
	t.Helper()
	var u runtime.Unknown
	if len(body) < 4 || string(body[:4]) != "k8s\x00" {
		t.Fatalf("no Protobuf: %q", body)
	}
	if err := u.Unmarshal(body[4:]); err != nil {
		t.Fatal(err)
	}
	if u.Kind != kind || u.APIVersion != apiVersion {
		t.Errorf("envelope of %s %s, want %s %s", u.APIVersion, u.Kind, apiVersion, kind)
	}
	return u.Raw
}

func (o representationObject) fromProtobuf(t *testing.T, body []byte) any {
	t.Helper()
	return o.decode(t, unwrap(t, body, o.kind.Kind, o.kind.APIVersion()))
}

func (o representationObject) decode(t *testing.T, raw []byte) any {
	t.Helper()
	sample, ok := public.Kinds[o.kind.GroupVersionKind]
	if !ok {
		v, faults, err := codec.DecodeProtobuf(o.kind.Message(), raw)
		if err != nil || len(faults) > 0 {
			t.Fatalf("%v %v", err, faults)
		}
		return treeRepresentation(t, codec.AppendValue(nil, o.kind.Message(), v))
	}
	to := reflect.New(reflect.TypeOf(sample)).Interface()
	if err := to.(interface{ Unmarshal([]byte) error }).Unmarshal(raw); err != nil {
		t.Fatal(err)
	}
	return to
}

// through converts an object's JSON to the Go type returned by decode. It omits the kind, which is
// in the Protobuf envelope.
func (o representationObject) through(t *testing.T, v map[string]any) any {
	t.Helper()
	rest := map[string]any{}
	for name, field := range v {
		if name != "kind" && name != "apiVersion" {
			rest[name] = field
		}
	}
	sample, ok := public.Kinds[o.kind.GroupVersionKind]
	if !ok {
		return rest
	}
	return typedRepresentation(t, rest, reflect.New(reflect.TypeOf(sample)).Interface())
}

func partialFromProtobuf(t *testing.T, body []byte) any {
	t.Helper()
	var u runtime.Unknown
	if err := u.Unmarshal(body[min(4, len(body)):]); err != nil {
		t.Fatal(err)
	}
	p := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: u.Kind, APIVersion: u.APIVersion}}
	if err := p.Unmarshal(u.Raw); err != nil {
		t.Fatal(err)
	}
	return p
}

// protobufItems returns the items of a Protobuf list, which have field number 2 in each list type.
func protobufItems(t *testing.T, body []byte, kind, apiVersion string) (items [][]byte) {
	t.Helper()
	items, err := fieldsOfRepresentation(unwrap(t, body, kind, apiVersion), 2)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", kind, err))
	}
	return items
}
