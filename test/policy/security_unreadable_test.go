package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/test/client"
)

func gone(t *testing.T, s *client.Server, path string) {
	t.Helper()
	client.Eventually(t, func() error {
		if answer, err := s.Get(t.Context(), path); err != nil || answer.Code != 404 {
			return fmt.Errorf("%s is still there: %v, %v", path, answer, err)
		}
		return nil
	})
}

// TestUnreadableIsDeleted checks that undecodable objects are deleted with their namespace or CRD.
// The objects of an undecodable CRD are served again once it is deleted and recreated.
func TestUnreadableIsDeleted(t *testing.T) {
	dir := t.TempDir()
	s := restart(t, dir)
	const definitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"
	definition := strings.NewReplacer("k8s.io", "platform.io", "x-kubernetes", "x-platform").Replace(blobDefinition)
	blob := func(name string) string {
		return `{"apiVersion":"hunt.example.com/v1","kind":"Blob","metadata":{"name":"` + name + `"},"data":{"a":1}}`
	}
	elsewhere := strings.Replace(blobs, "default", "doomed", 1)
	expect(t, s, 201, "POST", "/api/v1/namespaces", typeJSON, `{"metadata":{"name":"doomed"}}`)
	expect(t, s, 201, "POST", definitions, typeJSON, definition)
	expect(t, s, 201, "POST", blobs, typeJSON, blob("good"))
	expect(t, s, 201, "POST", blobs, typeJSON, blob("spoilt"))
	expect(t, s, 201, "POST", elsewhere, typeJSON, blob("spoilt"))
	s.Stop(t)
	const storage = "hunt.example.com/blobs/"
	appendToJournal(t, dir,
		persist.Write{Key: storage + "default/spoilt", Value: []byte(`{"metadata":{"name":"spoilt"`)},
		persist.Write{Key: storage + "doomed/spoilt", Value: []byte(`{"metadata":{"name":"spoilt","namespace":"doomed"},"data":` + string(nestedValue(12_000)) + `}`)},
		persist.Write{Key: "/configmaps/doomed/spoilt", Value: []byte(`{}`)},
	)
	s = restart(t, dir)
	expect(t, s, 500, "GET", elsewhere+"/spoilt", "", "")
	expect(t, s, 200, "DELETE", "/api/v1/namespaces/doomed", "", "")
	gone(t, s, "/api/v1/namespaces/doomed")
	expect(t, s, 500, "GET", blobs+"/spoilt", "", "")
	s.Stop(t)

	appendToJournal(t, dir, persist.Write{Key: "apiextensions.platform.io/customresourcedefinitions//blobs.hunt.example.com", Value: []byte(`{"metadata":5}`)})
	s = restart(t, dir)
	expect(t, s, 404, "GET", blobs+"/good", "", "")
	expect(t, s, 409, "POST", definitions, typeJSON, definition)
	expect(t, s, 200, "DELETE", definitions+"/blobs.hunt.example.com", "", "")
	expect(t, s, 201, "POST", definitions, typeJSON, definition)
	expect(t, s, 200, "GET", blobs+"/good", "", "")
	expect(t, s, 500, "GET", blobs+"/spoilt", "", "")
	expect(t, s, 200, "DELETE", definitions+"/blobs.hunt.example.com", "", "")
	gone(t, s, definitions+"/blobs.hunt.example.com")
	s.Stop(t)

	s = restart(t, dir)
	expect(t, s, 201, "POST", definitions, typeJSON, definition)
	expect(t, s, 404, "GET", blobs+"/spoilt", "", "")
	expect(t, s, 404, "GET", blobs+"/good", "", "")
	expect(t, s, 201, "POST", blobs, typeJSON, blob("spoilt"))
	if metrics := expect(t, s, 200, "GET", "/metrics", "", ""); !strings.Contains(metrics, "troupe_unreadable_objects 0\n") {
		t.Error("something is set aside still")
	}
}
