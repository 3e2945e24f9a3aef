package api

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestAccept: of what a client lists, the best that the server has is answered.
func TestAccept(t *testing.T) {
	t.Parallel()
	a := serveRepresentation(t)
	answer, err := a.Create(t.Context(), "/api/v1/namespaces/default/configmaps", []byte(`{"metadata":{"name":"x"}}`))
	if err != nil || answer.Code != http.StatusCreated {
		t.Fatal(answer, err)
	}
	const (
		item  = "/api/v1/namespaces/default/configmaps/x"
		list  = "/api/v1/namespaces/default/configmaps"
		watch = list + "?watch=1&fieldSelector=metadata.name%3Dx"
		table = "application/json;as=Table;g=meta.k8s.io;v=v1"
	)
	for _, c := range []struct {
		path, accept string
		code         int
		contentType  string
		kind         string // "" if the body is not looked at
	}{
		{item, "", 200, representationJsonType, "ConfigMap"},
		{item, "*/*", 200, representationJsonType, "ConfigMap"},
		{item, "application/*", 200, representationJsonType, "ConfigMap"},
		{item, "text/html, */*;q=0.1", 200, representationJsonType, "ConfigMap"},
		{item, "application/json;q=0.2, application/yaml;q=0.9", 200, yamlType, ""},
		{item, "application/json;q=0.9, application/yaml;q=0.2", 200, representationJsonType, "ConfigMap"},
		{item, "application/yaml;q=0, application/json;q=0.1", 200, representationJsonType, "ConfigMap"},
		{item, "application/yaml, application/json", 200, yamlType, ""},
		{item, "APPLICATION/YAML", 200, yamlType, ""},
		{item, protobufType + ", application/json", 200, protobufType, ""},
		{item, table, 200, representationJsonType, "Table"},
		{item, table + ", application/json", 200, representationJsonType, "Table"},
		{item, "application/json;as=Table;g=meta.k8s.io;v=v9, application/json", 200, representationJsonType, "ConfigMap"},
		{item, "application/json;as=Table;g=other.example.com;v=v1, application/json", 200, representationJsonType, "ConfigMap"},
		{item, "application/json;as=Nothing;g=meta.k8s.io;v=v1, application/json", 200, representationJsonType, "ConfigMap"},
		{item, protobufType + ";as=Table;g=meta.k8s.io;v=v1, " + table, 200, representationJsonType, "Table"},
		{item, protobufType + ";as=Table;g=meta.k8s.io;v=v1", 406, representationJsonType, "Status"},
		{item, "application/json;as=Table;g=meta.k8s.io;v=v9", 406, representationJsonType, "Status"},
		{item, "application/xml", 406, representationJsonType, "Status"},
		{item, "application/json;q=0", 406, representationJsonType, "Status"},
		{item, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", 406, representationJsonType, "Status"},
		{list, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", 406, representationJsonType, "Status"},
		{item + "?includeObject=All", table, 400, representationJsonType, "Status"},
		{item + "?includeObject=All", "application/json", 200, representationJsonType, "ConfigMap"},
		{watch, "", 200, representationJsonType, ""},
		{watch, "application/json;stream=watch", 200, representationJsonType, ""},
		{watch, protobufType + ";stream=watch", 200, watchType, ""},
		{watch, protobufType + ", application/json", 200, watchType, ""},
		{watch, "application/yaml", 406, representationJsonType, "Status"},
		{watch, "application/yaml, application/json", 200, representationJsonType, ""},
		{watch, "application/xml", 406, representationJsonType, "Status"},
		{watch, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", 406, representationJsonType, "Status"},
		{"/api", protobufType, 200, protobufType, ""},
		{"/apis", protobufType + ", application/json", 200, protobufType, ""},
		{"/apis/apps", "application/yaml", 200, yamlType, ""},
		{"/apis/apps", protobufType, 200, protobufType, ""},
		{"/apis/apps/v1", protobufType, 200, protobufType, ""},
		{"/api/v1", protobufType, 200, protobufType, ""},
		{"/api/v1", "application/*", 200, representationJsonType, "APIResourceList"},
		{"/api", "application/xml", 406, representationJsonType, "Status"},
		{"/apis", "application/xml", 406, representationJsonType, "Status"},
		{"/apis/apps", "application/xml", 406, representationJsonType, "Status"},
		{"/apis/apps/v1", "application/xml", 406, representationJsonType, "Status"},
		{"/apis/apps/v1", table, 406, representationJsonType, "Status"},
		{"/version", "", 200, representationJsonType, ""},
		{"/version", protobufType + ", */*", 200, representationJsonType, ""},
		{"/version", protobufType, 406, protobufType, ""},
		{"/version", "application/yaml", 406, yamlType, ""},
		{watch + "&includeObject=All", table, 400, representationJsonType, "Status"},
		{watch + "&includeObject=All", "application/json", 200, representationJsonType, ""},
	} {
		answer := a.open(t, c.path, c.accept)
		if answer.StatusCode != c.code || answer.Header.Get("Content-Type") != c.contentType {
			t.Errorf("%s as %q: %d %s, want %d %s", c.path, c.accept, answer.StatusCode, answer.Header.Get("Content-Type"), c.code, c.contentType)
		}
		if c.kind == "" {
			continue
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := treeRepresentation(t, body)["kind"]; got != c.kind {
			t.Errorf("%s as %q: %v, want %s", c.path, c.accept, got, c.kind)
		}
	}
}

// TestAcceptOfDelete: a Status has one shape, so a delete takes whatever shape is named; what is not acceptable deletes nothing.
func TestAcceptOfDelete(t *testing.T) {
	t.Parallel()
	a := serveRepresentation(t)
	const list = "/api/v1/namespaces/default/configmaps"
	for accept, code := range map[string]int{
		"": 200, as(representationJsonType, "Table", "v1"): 200, as(representationJsonType, "PartialObjectMetadata", "v1"): 200, as(representationJsonType, "PartialObjectMetadataList", "v1"): 200,
		as(protobufType, "PartialObjectMetadataList", "v1"): 200, "application/xml": 406, as(representationJsonType, "Nothing", "v1"): 406, as(representationJsonType, "Table", "v9"): 406,
	} {
		for _, finalizers := range []string{"", `,"finalizers":["e.com/x"]`} {
			answer, err := a.Create(t.Context(), list, []byte(`{"metadata":{"generateName":"d-"`+finalizers+`}}`))
			if err != nil || answer.Code != http.StatusCreated {
				t.Fatal(answer, err)
			}
			name := answer.Object().Name()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, a.URL+list+"/"+name, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept", accept)
			deleted, err := a.transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			deleted.Body.Close()
			left, err := a.Get(t.Context(), list+"/"+name)
			gone := left.Code == 404 || err == nil && left.Object().Metadata()["deletionTimestamp"] != nil
			if deleted.StatusCode != code || err != nil || gone != (code == 200) {
				t.Errorf("%q: %d, want %d; then %v, %v", accept, deleted.StatusCode, code, left, err)
			}
		}
	}
}

// TestNewlines: JSON ends with a newline, unless it is indented; so does what is written in pieces.
func TestNewlines(t *testing.T) {
	t.Parallel()
	a := serveRepresentation(t)
	const list = "/api/v1/namespaces/default/configmaps"
	sizes := map[string]int{"small": 10, "buffered": 60 << 10, "large": 600 << 10}
	for name, size := range sizes {
		answer, err := a.Create(t.Context(), list, []byte(`{"metadata":{"name":"`+name+`"},"data":{"x":"`+strings.Repeat("x", size)+`"}}`))
		if err != nil || answer.Code != http.StatusCreated || answer.Body[len(answer.Body)-1] != '\n' {
			t.Fatal(answer, err)
		}
	}
	table, partial := as(representationJsonType, "Table", "v1"), as(representationJsonType, "PartialObjectMetadata", "v1")
	for _, c := range []struct{ path, accept string }{
		{list + "/small", ""}, {list + "/buffered", ""}, {list + "/large", ""}, {list + "/small", table}, {list + "/large", partial}, {list, ""}, {list + "?limit=1", ""},
		{list, table}, {list + "?limit=1", table}, {list, as(representationJsonType, "PartialObjectMetadataList", "v1")}, {list + "/none", ""}, {"/api", ""}, {"/apis", ""},
		{"/apis/apps", ""}, {"/apis/apps/v1", ""}, {"/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"},
	} {
		for _, suffix := range []string{"", "pretty=true"} {
			path := c.path
			if suffix != "" {
				path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + suffix
			}
			if suffix != "" && strings.Contains(c.accept, "apidiscovery") {
				continue // never indented
			}
			body, err := io.ReadAll(a.open(t, path, c.accept).Body)
			if err != nil || strings.HasSuffix(string(body), "\n") != (suffix == "") || strings.HasSuffix(string(body), "\n\n") {
				t.Errorf("%s as %q: it ends with %q, %v", path, c.accept, body[max(0, len(body)-3):], err)
			}
		}
	}
}

// TestContentType: bodies are read as what they are said to be, and nothing else.
func TestContentType(t *testing.T) {
	t.Parallel()
	a := serveRepresentation(t)
	for _, c := range []struct {
		method, path, contentType, body string
		code                            int
	}{
		{"POST", configMaps, "application/json", `{"metadata":{"name":"a"}}`, 201},
		{"POST", configMaps, "application/json; charset=utf-8", `{"metadata":{"name":"b"}}`, 201},
		{"POST", configMaps, "application/yaml", "metadata: {name: c}", 201},
		{"POST", configMaps, "", `{"metadata":{"name":"d"}}`, 201},
		{"POST", configMaps, "text/plain", `{"metadata":{"name":"e"}}`, 415},
		{"POST", configMaps, "application/xml", "<a/>", 415},
		{"POST", configMaps, protobufType, "junk", 400},
		{"PUT", configMaps + "/a", "text/plain", `{"metadata":{"name":"a"}}`, 415},
		{"PATCH", configMaps + "/a", "application/json", `{"data":{}}`, 415},
		{"PATCH", configMaps + "/a", "application/merge-patch+json", `{"data":{"a":"b"}}`, 200},
		{"DELETE", configMaps + "/a", "text/plain", `{}`, 415},
		{"DELETE", configMaps + "/a", "application/json", `{"kind":"DeleteOptions","apiVersion":"v1"}`, 200},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, a.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.contentType != "" {
			r.Header.Set("Content-Type", c.contentType)
		}
		answer, err := a.transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != c.code {
			t.Errorf("%s %s of %q: %d %s, want %d", c.method, c.path, c.contentType, answer.StatusCode, body, c.code)
		}
	}
}

// TestReviewsHaveNoTable: what is answered to a create of which nothing is stored is no table; who takes anything else as well
// gets that.
func TestReviewsHaveNoTable(t *testing.T) {
	t.Parallel()
	a := serveRepresentation(t)
	const table = "application/json;as=Table;g=meta.k8s.io;v=v1"
	for accept, want := range map[string]int{table: 406, table + ", application/json": 201, "application/json": 201} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", a.URL+"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", strings.NewReader(`{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		r.Header.Set("Content-Type", "application/json")
		answer, err := a.transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != want || want == 201 && treeRepresentation(t, body)["kind"] != "SelfSubjectAccessReview" {
			t.Errorf("%s: %d %s %v, want %d", accept, answer.StatusCode, body, err, want)
		}
	}
}
