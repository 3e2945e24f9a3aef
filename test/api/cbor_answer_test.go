package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// TestOff checks that CBOR is unavailable while its feature gate is off.
func TestOff(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, false)
	const formats = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
	got := s.send("GET", configMaps, nil, "Accept", cborCborType)
	if got.Code != 406 || !strings.Contains(string(got.Body), `Available representations: `+formats+`"`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got = s.send("GET", configMaps+"?watch=1", nil, "Accept", cborCborType); got.Code != 406 {
		t.Errorf("watch: %d %s", got.Code, got.Body)
	}
	if got = s.send("GET", configMaps, nil, "Accept", cborCborType+", "+cborJsonType); got.Code != 200 || got.Header.Get("Content-Type") != cborJsonType {
		t.Errorf("or JSON: %d %v", got.Code, got.Header)
	}
	if got = s.send("POST", configMaps, encode(t, publicConfigMap("a", nil)), "Content-Type", cborCborType); got.Code != 415 || !strings.Contains(string(got.Body), formats) || strings.Contains(string(got.Body), "cbor") {
		t.Errorf("body: %d %s", got.Code, got.Body)
	}
	got = s.send("PATCH", configMaps+"/a?fieldManager=m", encode(t, publicConfigMap("a", nil)), "Content-Type", "application/apply-patch+cbor")
	if got.Code != 415 || !strings.Contains(string(got.Body), "application/apply-patch+yaml") || strings.Contains(string(got.Body), "cbor") {
		t.Errorf("apply: %d %s", got.Code, got.Body)
	}
}

// TestNegotiation checks the format that the server selects. Errors must list the available
// formats.
func TestNegotiation(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	s.define()
	const builtIn, custom = "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor", "application/json, application/yaml, application/cbor"
	for _, c := range []struct {
		method, path string
		headers      []string
		code         int
		message      string
	}{
		{"GET", configMaps, []string{"Accept", "text/html"}, 406, "Available representations: " + builtIn},
		{"GET", configMaps + "?watch=1", []string{"Accept", "application/yaml"}, 406, "Available representations: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq"},
		{"POST", configMaps, []string{"Content-Type", "text/html"}, 415, builtIn},
		{"POST", widgets, []string{"Content-Type", "application/vnd.kubernetes.protobuf"}, 415, custom},
		{"PATCH", configMaps + "/a", []string{"Content-Type", cborCborType}, 415, "application/strategic-merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor"},
		{"PATCH", widgets + "/a", []string{"Content-Type", "application/strategic-merge-patch+json"}, 415, "application/merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor"},
	} {
		got := s.send(c.method, c.path, []byte("{}"), c.headers...)
		if got.Code != c.code || !strings.Contains(string(got.Body), c.message) {
			t.Errorf("%s %s %v: %d %s", c.method, c.path, c.headers, got.Code, got.Body)
		}
	}
	for accept, want := range map[string]string{
		cborCborType + "," + cborJsonType: cborCborType, cborJsonType + "," + cborCborType: cborJsonType, cborCborType + ";q=0.5," + cborJsonType: cborJsonType,
		"application/CBOR": cborCborType, "*/*": cborJsonType, "application/vnd.kubernetes.protobuf," + cborCborType: "application/vnd.kubernetes.protobuf",
	} {
		if got := s.send("GET", configMaps, nil, "Accept", accept); got.Code != 200 || got.Header.Get("Content-Type") != want {
			t.Errorf("%s: %d %s", accept, got.Code, got.Header.Get("Content-Type"))
		}
	}
	if got := s.send("GET", widgets, nil, "Accept", "application/vnd.kubernetes.protobuf,"+cborCborType); got.Code != 200 || got.decode(t)["kind"] != "WidgetList" {
		t.Errorf("custom: %d %s", got.Code, got.Header.Get("Content-Type"))
	}
}

// TestErrors checks that errors are returned as a Status in CBOR.
func TestErrors(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	for _, c := range []struct {
		method, path, body, reason string
		code                       int64
	}{
		{"GET", configMaps + "/none", "", "NotFound", 404},
		{"POST", configMaps, `{"metadata":{"name":"?"}}`, "Invalid", 422},
		{"POST", configMaps, `{"metadata":{"name":1}}`, "BadRequest", 400},
		{"GET", configMaps + "?resourceVersion=x", "", "BadRequest", 400},
	} {
		got := s.send(c.method, c.path, []byte(c.body), "Content-Type", cborJsonType, "Accept", cborCborType)
		status := got.decode(t)
		if int64(got.Code) != c.code || status["kind"] != "Status" || status["reason"] != c.reason || status["code"] != c.code {
			t.Errorf("%s %s: %d %v", c.method, c.path, got.Code, status)
		}
	}
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	for path, kind := range map[string]string{"/api/v1": "APIResourceList", "/apis/apps/v1": "APIResourceList", "/apis/apps": "APIGroup", "/apis": "APIGroupList", "/api": "APIVersions"} {
		if got := s.send("GET", path, nil, "Accept", cborCborType).decode(t); got["kind"] != kind {
			t.Errorf("%s: %v", path, got["kind"])
		}
	}
	openapi := s.send("GET", "/openapi/v3/api/v1", nil)
	if !strings.Contains(string(openapi.Body), `"application/cbor-seq"`) {
		t.Error("OpenAPI does not know CBOR")
	}
}

// TestLongList checks that a list sent in several chunks contains all items.
func TestLongList(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	const n = 300
	for i := range n {
		if got := s.send("POST", configMaps, encode(t, publicConfigMap(fmt.Sprintf("m%03d", i), cborObject{"text": strings.Repeat("x", 2000)})), "Content-Type", cborCborType); got.Code != 201 {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
	}
	list := s.send("GET", configMaps+"?limit=290", nil, "Accept", cborCborType).decode(t)
	items := list["items"].([]any)
	head := list["metadata"].(cborObject)
	if len(items) != 290 || list["kind"] != "ConfigMapList" || head["continue"] == "" || head["remainingItemCount"] == nil {
		t.Errorf("%d items, %v", len(items), head)
	}
	rest := s.send("GET", configMaps+"?limit=290&continue="+head["continue"].(string), nil, "Accept", cborCborType).decode(t)["items"].([]any)
	if len(rest)+len(items) < n {
		t.Errorf("%d items are left", len(rest))
	}
}

const widgets = "/apis/example.com/v1/namespaces/default/widgets"

// define creates a CRD for the kind Widget, whose spec may contain any fields.
func (s server) define() {
	s.t.Helper()
	const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{
		"group":"example.com","scope":"Namespaced","names":{"kind":"Widget","plural":"widgets"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`
	got := s.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", []byte(definition), "Content-Type", cborJsonType)
	if got.Code != 201 {
		s.t.Fatalf("%d %s", got.Code, got.Body)
	}
}

// TestWebSocket checks that a watch over a WebSocket sends each event as one binary message.
func TestWebSocket(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	if got := s.send("POST", configMaps, encode(t, publicConfigMap("a", nil)), "Content-Type", cborCborType); got.Code != 201 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	dialer := websocket.Dialer{TLSClientConfig: s.TLS}
	c, answer, err := dialer.DialContext(t.Context(), strings.Replace(s.URL, "https", "wss", 1)+configMaps+"?watch=1&fieldSelector=metadata.name%3Da", http.Header{"Accept": {cborCborType}})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	defer c.Close()
	kind, message, err := c.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	var e map[string]any
	if err := direct.Unmarshal(message, &e); err != nil || kind != websocket.BinaryMessage || e["type"] != "ADDED" || e["object"].(cborObject)["kind"] != "ConfigMap" {
		t.Errorf("%d %x, %v", kind, message, err)
	}
}
