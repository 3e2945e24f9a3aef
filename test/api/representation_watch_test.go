package api

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"google.golang.org/protobuf/encoding/protowire"
)

// fieldsOfRepresentation returns all values of a length-delimited field in a Protobuf message.
func fieldsOfRepresentation(b []byte, number protowire.Number) (values [][]byte, err error) {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		b = b[size:]
		if size = protowire.ConsumeFieldValue(n, kind, b); size < 0 {
			return nil, protowire.ParseError(size)
		}
		if n == number {
			v, _ := protowire.ConsumeBytes(b)
			values = append(values, v)
		}
		b = b[size:]
	}
	return values, nil
}

const added = "ADDED"

// checkWatch watches the object in each representation and checks the first event.
func (a *requester) checkWatch(t *testing.T, o representationObject, want map[string]any) {
	t.Helper()
	path := o.collection() + "?watch=1&fieldSelector=metadata.name%3D" + o.name
	sameRepresentation(t, "watch", a.event(t, path, representationJsonType, added), want)
	sameRepresentation(t, "Protobuf watch", o.fromProtobuf(t, a.protobufEvent(t, path, protobufType, added)), o.through(t, want))
	for _, version := range []string{"v1", "v1beta1"} {
		partial := partialOf(want, version)
		sameRepresentation(t, "watch of metadata", a.event(t, path, as(representationJsonType, "PartialObjectMetadata", version), added), partial)
		body := a.protobufEvent(t, path, as(protobufType, "PartialObjectMetadata", version), added)
		sameRepresentation(t, "watch of metadata in Protobuf", partialFromProtobuf(t, body), typedRepresentation(t, partial, &metav1.PartialObjectMetadata{}))
		for include, object := range map[string]any{"None": nil, "Metadata": any(partial), "Object": any(want)} {
			table := a.event(t, path+"&includeObject="+include, as(representationJsonType, "Table", version), added)
			checkTable(t, table, version, object, 1)
		}
	}
}

// TestBookmark checks that the bookmark that ends the initial events has the requested
// representation, and the annotation for their end.
func TestBookmark(t *testing.T) {
	t.Parallel()
	a := serveRepresentation(t)
	const (
		path = "/api/v1/namespaces/default/secrets?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
		end  = "k8s.io/initial-events-end"
	)
	for accept, want := range map[string][2]string{
		representationJsonType: {"Secret", "v1"},
		as(representationJsonType, "PartialObjectMetadata", "v1"):      {"PartialObjectMetadata", "meta.k8s.io/v1"},
		as(representationJsonType, "PartialObjectMetadata", "v1beta1"): {"PartialObjectMetadata", "meta.k8s.io/v1beta1"},
	} {
		o := a.event(t, path, accept, "BOOKMARK")
		if o["kind"] != want[0] || o["apiVersion"] != want[1] || annotationOf(o, end) != "true" {
			t.Errorf("%s: %v", accept, o)
		}
	}
	table := a.event(t, path, as(representationJsonType, "Table", "v1"), "BOOKMARK")
	rows, _ := table["rows"].([]any)
	if len(rows) != 1 || annotationOf(rows[0].(map[string]any)["object"].(map[string]any), end) != "true" {
		t.Errorf("table: %v", table)
	}
	version := table["metadata"].(map[string]any)["resourceVersion"]
	if version == nil || version != rows[0].(map[string]any)["object"].(map[string]any)["metadata"].(map[string]any)["resourceVersion"] {
		t.Errorf("version of the table: %v", table)
	}
	secret := &core.Secret{}
	if err := secret.Unmarshal(unwrap(t, a.protobufEvent(t, path, protobufType, "BOOKMARK"), "Secret", "v1")); err != nil {
		t.Fatal(err)
	}
	if secret.Annotations[end] != "true" || secret.ResourceVersion == "" {
		t.Errorf("Protobuf: %v", secret)
	}
}

func annotationOf(o map[string]any, name string) any {
	metadata, _ := o["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations[name]
}

func (a *requester) stream(t *testing.T, path, accept, contentType string) io.ReadCloser {
	t.Helper()
	answer := a.open(t, path, accept)
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(answer.Body)
		t.Fatalf("%s as %s: %d %s", path, accept, answer.StatusCode, body)
	}
	if got := answer.Header.Get("Content-Type"); got != contentType {
		t.Errorf("%s as %s: Content-Type %q, want %q", path, accept, got, contentType)
	}
	return answer.Body
}

// event returns the object of the first watch event, which must have the given type.
func (a *requester) event(t *testing.T, path, accept, kind string) map[string]any {
	t.Helper()
	body := a.stream(t, path, accept, representationJsonType)
	defer body.Close()
	var e struct {
		Type   string
		Object map[string]any
	}
	if err := json.NewDecoder(body).Decode(&e); err != nil {
		t.Fatal(err)
	}
	if e.Type != kind {
		t.Fatalf("%s %v", e.Type, e.Object)
	}
	return e.Object
}

// protobufEvent is like event for Protobuf. A frame is a four-byte length followed by a WatchEvent.
func (a *requester) protobufEvent(t *testing.T, path, accept, kind string) []byte {
	t.Helper()
	body := a.stream(t, path, accept, watchType)
	defer body.Close()
	var length [4]byte
	if _, err := io.ReadFull(body, length[:]); err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(body, frame); err != nil {
		t.Fatal(err)
	}
	var e metav1.WatchEvent
	if err := e.Unmarshal(frame); err != nil {
		t.Fatal(err)
	}
	if e.Type != kind {
		t.Fatalf("%s %q", e.Type, e.Object.Raw)
	}
	return e.Object.Raw
}
