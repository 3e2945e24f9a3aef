package api

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// TestShapes: each shape of a path, for what it means.
func TestShapes(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	s.send(t, 201, http.MethodPost, "/api/v1/nodes", client.JSON, `{"metadata":{"name":"n"}}`)
	s.send(t, 201, http.MethodPost, "/apis/storage.platform.io/v1/storageclasses", client.JSON, `{"metadata":{"name":"c"},"provisioner":"p"}`)
	s.send(t, 201, http.MethodPost, "/apis/apps/v1/namespaces/default/deployments", client.JSON,
		`{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	for _, c := range []struct {
		path string
		code int
		kind string
	}{
		{"/api/v1/nodes", 200, "NodeList"},
		{"/api/v1/nodes/n", 200, "Node"},
		{"/api/v1/nodes/n/status", 200, "Node"},
		{"/apis/storage.platform.io/v1/storageclasses", 200, "StorageClassList"},
		{"/apis/storage.platform.io/v1/storageclasses/c", 200, "StorageClass"},
		{configMaps, 200, "ConfigMapList"},
		{"/api/v1/configmaps", 200, "ConfigMapList"},
		{configMaps + "/a", 200, "ConfigMap"},
		{"/apis/apps/v1/deployments", 200, "DeploymentList"},
		{"/apis/apps/v1/namespaces/default/deployments/d", 200, "Deployment"},
		{"/apis/apps/v1/namespaces/default/deployments/d/scale", 200, "Scale"},
		{"/api/v1/namespaces", 200, "NamespaceList"},
		{"/api/v1/namespaces/default", 200, "Namespace"},
		{"/api/v1/namespaces/default/status", 200, "Namespace"},
		{"/apis/apps/v1/deployments/status", 404, "Status"}, // no sub-resource of many at once
		{"/api/v1/namespaces/none/configmaps", 200, "ConfigMapList"},
	} {
		if got := s.get(t, c.code, c.path).Object(); got["kind"] != c.kind {
			t.Errorf("%s: %v, want %s", c.path, got["kind"], c.kind)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		s.send(t, 405, method, "/api/v1/configmaps", client.JSON, `{"metadata":{"name":"x"}}`)
	}
}

// TestVerbs: each verb and its success, with the object or the Status.
func TestVerbs(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	config := func(value string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":%q}}`, value)
	}
	for _, c := range []struct {
		verb, method, path, contentType string
		body                            any
		code                            int
		kind                            string
	}{
		{"create", "POST", configMaps, client.JSON, config("1"), 201, "ConfigMap"},
		{"create again", "POST", configMaps, client.JSON, config("1"), 409, "Status"},
		{"get", "GET", configMaps + "/a", "", nil, 200, "ConfigMap"},
		{"list", "GET", configMaps, "", nil, 200, "ConfigMapList"},
		{"update", "PUT", configMaps + "/a", client.JSON, config("2"), 200, "ConfigMap"},
		{"patch", "PATCH", configMaps + "/a", client.MergePatch, `{"data":{"y":"3"}}`, 200, "ConfigMap"},
		{"apply", "PATCH", configMaps + "/b?fieldManager=m", conventionTypeApply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`, 201, "ConfigMap"},
		{"apply again", "PATCH", configMaps + "/b?fieldManager=m", conventionTypeApply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"x":"1"}}`, 200, "ConfigMap"},
		{"delete", "DELETE", configMaps + "/a", "", nil, 200, "Status"},
		{"delete again", "DELETE", configMaps + "/a", "", nil, 404, "Status"},
		{"deletecollection", "DELETE", configMaps, "", nil, 200, "Status"},
		{"nothing is left", "GET", configMaps + "/b", "", nil, 404, "Status"},
	} {
		a := s.send(t, 0, c.method, c.path, c.contentType, c.body)
		if a.Code != c.code || a.Object()["kind"] != c.kind {
			t.Errorf("%s: %v, want %d %s", c.verb, a, c.code, c.kind)
		}
	}
}

// TestMetadata: what the server gives each object, and what is unique for how long.
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
	// A ConfigMap has no generation that the server counts, so that of the client is kept.
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

// TestNamespaceDeletion: what is in a namespace goes with it.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.send(t, 201, http.MethodPost, "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"n"}}`)
	s.create(t, "/api/v1/namespaces/n/configmaps", "a", nil)
	w := s.watch(t, "/api/v1/namespaces?fieldSelector=metadata.name%3Dn&resourceVersion="+textConventions(s.version(t)))
	if going := s.send(t, 200, http.MethodDelete, "/api/v1/namespaces/n", "", nil).Object(); going["kind"] != "Namespace" {
		t.Errorf("the answer is %v", going)
	}
	for last := nextConventions(t, w, "MODIFIED/n"); last.Type != client.Deleted; {
		e, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		last = e
	}
	s.get(t, 404, "/api/v1/namespaces/n/configmaps/a")
	a := s.send(t, 403, http.MethodDelete, "/api/v1/namespaces/default", "", nil)
	wantFault(t, a, 403, "Forbidden", `namespaces "default" is forbidden: this namespace may not be deleted`)
}
