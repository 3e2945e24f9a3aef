package api

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/troupe-api/troupe/test/client"
)

const (
	representationCborType = "application/cbor"
	cborSequenceType       = "application/cbor-seq"
	// cborTag is the self-described CBOR tag at the start of each document.
	cborTag = "\xd9\xd9\xf7"
)

// fromCBOR decodes CBOR with the Kubernetes serializer and converts it to the JSON form.
func fromCBOR(t *testing.T, body []byte) map[string]any {
	t.Helper()
	if !bytes.HasPrefix(body, []byte(cborTag)) {
		t.Errorf("no tag: %x", body[:min(len(body), 8)])
	}
	var v any
	if err := direct.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v in %x", err, body)
	}
	text := client.Encode(t, v)
	return treeRepresentation(t, text)
}

// checkCBOR requests the object in CBOR: alone, as metadata, and in a list, watch and table. It
// then writes the object back.
func (a *requester) checkCBOR(t *testing.T, o representationObject, want map[string]any) {
	t.Helper()
	body := a.get(t, o.path(), representationCborType, representationCborType)
	sameRepresentation(t, "CBOR", fromCBOR(t, body), want)
	query := "?fieldSelector=metadata.name%3D" + o.name
	list := treeRepresentation(t, a.get(t, o.collection()+query, representationJsonType, representationJsonType))
	revision, _ := list["metadata"].(map[string]any)["resourceVersion"].(string)
	sameRepresentation(t, "CBOR list", fromCBOR(t, a.get(t, o.collection()+query+"&resourceVersionMatch=Exact&resourceVersion="+revision, representationCborType, representationCborType)), list)
	watch := o.collection() + "?watch=1&" + query[1:]
	sameRepresentation(t, "CBOR watch", a.cborEvent(t, watch, representationCborType, added), want)
	for _, version := range []string{"v1", "v1beta1"} {
		partial := partialOf(want, version)
		accept := as(representationCborType, "PartialObjectMetadata", version)
		sameRepresentation(t, "metadata in CBOR", fromCBOR(t, a.get(t, o.path(), accept, representationCborType)), partial)
		sameRepresentation(t, "watch of metadata in CBOR", a.cborEvent(t, watch, accept, added), partial)
		sameRepresentation(t, "metadata list in CBOR", fromCBOR(t, a.get(t, o.collection()+query, as(representationCborType, "PartialObjectMetadataList", version), representationCborType))["items"], []any{partial})
		checkTable(t, fromCBOR(t, a.get(t, o.collection()+query, as(representationCborType, "Table", version), representationCborType)), version, partial, 1)
		checkTable(t, fromCBOR(t, a.get(t, o.path()+"?includeObject=Object", as(representationCborType, "Table", version), representationCborType)), version, want, 1)
		checkTable(t, a.cborEvent(t, watch, as(representationCborType, "Table", version), added), version, partial, 1)
	}
	a.sendBack(t, o, body, want)
}

// sendBack updates the object with the CBOR from the server, which must change nothing.
func (a *requester) sendBack(t *testing.T, o representationObject, body []byte, want map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, a.URL+o.path()+"?fieldValidation=Strict", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", representationCborType)
	answer, err := a.transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		t.Fatal(err)
	case answer.StatusCode == http.StatusMethodNotAllowed:
	case answer.StatusCode != http.StatusOK:
		t.Errorf("sent back: %d %s", answer.StatusCode, text)
	default:
		sameRepresentation(t, "sent back", treeRepresentation(t, text), want)
	}
}

// cborEvent returns the object of the first watch event, which must have the given type. It reads
// frames as client-go does.
func (a *requester) cborEvent(t *testing.T, path, accept, kind string) map[string]any {
	t.Helper()
	var sent bytes.Buffer
	body := a.stream(t, path, accept, cborSequenceType)
	defer body.Close()
	frames := cbor.NewFramer().NewFrameReader(io.NopCloser(io.TeeReader(body, &sent)))
	frame := make([]byte, 1<<20)
	n, err := frames.Read(frame) // strips the tag
	if err != nil {
		t.Fatal(err)
	}
	e := fromCBOR(t, sent.Bytes()[:n+len(cborTag)])
	if e["type"] != kind {
		t.Fatalf("%v", e)
	}
	if !bytes.Contains(frame[:n], []byte("object"+cborTag)) {
		t.Errorf("the object has no tag: %x", frame[:n])
	}
	return e["object"].(map[string]any)
}
