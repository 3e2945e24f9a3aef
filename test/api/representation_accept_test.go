package api

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestNewlines checks that JSON ends with a newline unless it is indented, even if it is streamed
// in chunks.
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
