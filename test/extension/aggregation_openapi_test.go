package extension

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// openapiURL waits until the OpenAPI v3 index lists path, and returns the document's URL. If wanted
// is false, it waits until the index omits path.
func (s aggregationSession) openapiURL(path string, wanted bool) (url string) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		var index struct {
			Paths map[string]struct{ ServerRelativeURL string }
		}
		if err := json.Unmarshal(s.Send(200, "GET", "/openapi/v3", "", "").Body, &index); err != nil {
			return err
		}
		url = index.Paths[path].ServerRelativeURL
		if (url != "") != wanted {
			return fmt.Errorf("%s is at %q", path, url)
		}
		return nil
	})
	return url
}

// TestOldServer checks that the daemon publishes an OpenAPI v3 document for an aggregated server
// that serves only v2. The document disappears with the server's APIService.
func TestOldServer(t *testing.T) {
	t.Parallel()
	const document = `{"swagger":"2.0","info":{"title":"old","version":"1"},"paths":{"/apis/ext.example.com/v1/things":{"get":{"produces":["application/json"],
		"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/old.Thing"}}}}}},"definitions":{"old.Thing":{"type":"object","description":"An old thing."}}}`
	b := startBackend(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/openapi/v2" {
			fmt.Fprint(w, document)
		}
		return r.URL.Path == "/openapi/v2"
	})
	s := openAggregation(t, b.address(), nil)
	s.register(b, "ext.example.com", "v1")
	url := s.openapiURL("apis/ext.example.com/v1", true)
	text := string(s.Send(200, "GET", url, "", "").Body)
	for _, part := range []string{`"openapi":"3.0.0"`, `"schema":{"$ref":"#/components/schemas/old.Thing"}`, `"old.Thing":{"description":"An old thing.","type":"object"}`} {
		if !strings.Contains(text, part) {
			t.Errorf("%s, want %s", text, part)
		}
	}
	s.Send(301, "GET", "/openapi/v3/apis/ext.example.com/v1?hash=other", "", "")
	s.define()
	if again := s.openapiURL("apis/ext.example.com/v1", true); again != url {
		t.Errorf("it has moved from %s to %s", url, again)
	}
	s.Send(200, "DELETE", apiServices+"/v1.ext.example.com", "", "")
	s.openapiURL("apis/ext.example.com/v1", false)
	s.Send(404, "GET", "/openapi/v3/apis/ext.example.com/v1", "", "")
}

// define creates a CRD, which changes the local OpenAPI documents.
func (s aggregationSession) define() {
	s.T.Helper()
	s.Send(201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", client.JSON, `{"metadata":{"name":"as.other.example.com"},"spec":{"group":"other.example.com",
		"scope":"Cluster","names":{"plural":"as","kind":"A"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	s.openapiURL("apis/other.example.com/v1", true)
}
