package api

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// TestMetadata checks the metadata set by the server. UIDs are unique, names are generated, and
// client values for server-owned fields are ignored.
func TestMetadata(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	post := func(collection, metadata string) client.Object {
		t.Helper()
		return s.send(t, 201, http.MethodPost, collection, client.JSON, `{"metadata":{`+metadata+`}}`).Object()
	}
	s.send(t, 201, http.MethodPost, "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"other"}}`)
	before := time.Now().Truncate(time.Second)
	first := post(configMaps, `"name":"a"`)
	at, err := time.Parse(time.RFC3339, fmt.Sprint(first.Metadata()["creationTimestamp"]))
	if err != nil || at.Before(before) || at.After(time.Now()) || !uuid.MatchString(first.UID()) || first.Version() == 0 || first.Metadata()["namespace"] != "default" {
		t.Errorf("made by the server: %v (%v)", first, err)
	}
	elsewhere := post("/api/v1/namespaces/other/configmaps", `"name":"a"`)
	s.send(t, 200, http.MethodDelete, configMaps+"/a", "", nil)
	second := post(configMaps, `"name":"a"`)
	if first.UID() == second.UID() || first.UID() == elsewhere.UID() {
		t.Error("a uid was given twice")
	}
	own := post(configMaps, `"name":"own","uid":"mine","creationTimestamp":"2000-01-01T00:00:00Z","deletionTimestamp":"2000-01-01T00:00:00Z","selfLink":"/x"`)
	if m := own.Metadata(); !uuid.MatchString(own.UID()) || m["creationTimestamp"] == "2000-01-01T00:00:00Z" || m["deletionTimestamp"] != nil || m["selfLink"] != nil {
		t.Errorf("a client has set what is the server's: %v", own)
	}
	// The server does not maintain the generation of a ConfigMap, so it keeps the client's value.
	if counted := post(configMaps, `"name":"counted","generation":7`); fmt.Sprint(counted.Metadata()["generation"]) != "7" {
		t.Errorf("a generation of 7 is %v", counted.Metadata()["generation"])
	}
	generated := regexp.MustCompile(`^web-[a-z0-9]{5}$`)
	one, two := post(configMaps, `"generateName":"web-"`), post(configMaps, `"generateName":"web-"`)
	if one.Name() == two.Name() || !generated.MatchString(one.Name()) || one.Metadata()["generateName"] != "web-" {
		t.Errorf("generated %s and %s", one.Name(), two.Name())
	}
	if named := post(configMaps, `"name":"named","generateName":"web-"`); named.Name() != "named" {
		t.Errorf("a name that was given is now %s", named.Name())
	}
}
