package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestSlashes: a path that ends in a slash is that without it where the public server takes it so.
func TestSlashes(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	s.send(t, 201, http.MethodPost, "/api/v1/nodes/", client.JSON, `{"metadata":{"name":"n"}}`)
	for _, c := range []struct {
		path string
		code int
		kind string
	}{
		{"/api/", 200, "APIVersions"},
		{"/apis/", 200, "APIGroupList"},
		{"/api/v1/", 200, "APIResourceList"},
		{"/apis/apps/", 200, "APIGroup"},
		{"/apis/apps/v1/", 200, "APIResourceList"},
		{"/apis/apps/v1/?pretty=true", 200, "APIResourceList"},
		{"/apis/nothing/", 404, ""},
		{"/apis/apps/v9/", 404, ""},
		{"/version/", 200, ""},
		{"/api/v1/nodes/", 200, "NodeList"},
		{"/api/v1/nodes/n/", 200, "Node"},
		{"/api/v1/nodes/n/status/", 200, "Node"},
		{configMaps + "/", 200, "ConfigMapList"},
		{configMaps + "/?limit=1", 200, "ConfigMapList"},
		{configMaps + "/a/", 200, "ConfigMap"},
		{"/api/v1/namespaces/default/", 200, "Namespace"},
		{"/apis/apps/v1/deployments/", 200, "DeploymentList"},
		{configMaps + "//", 400, "Status"},
		{"/healthz/", 404, ""},
		{"/metrics/", 404, ""},
		{"/openapi/v2/", 404, ""},
		{"/openapi/v3/apis/apps/v1/", 404, ""},
	} {
		answer := s.send(t, c.code, http.MethodGet, c.path, "", nil)
		if c.kind != "" && answer.Object()["kind"] != c.kind {
			t.Errorf("%s: %v, want %s", c.path, answer.Object()["kind"], c.kind)
		}
	}
	s.send(t, 200, http.MethodDelete, configMaps+"/a/", "", nil)
	s.get(t, 404, configMaps+"/a")
}

// TestServerAddress: /api says where the server is, as others reach it.
func TestServerAddress(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, func(c *daemon.Config) { c.Serving.AdvertiseAddress = "192.0.2.7" })
	s.Server = s.First(t)
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	want := fmt.Sprint([]any{map[string]any{"clientCIDR": "0.0.0.0/0", "serverAddress": "192.0.2.7" + port}})
	if got := fmt.Sprint(s.get(t, 200, "/api").Object()["serverAddressByClientCIDRs"]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestProfiles: the page of profiles lists them, and each can be had.
func TestProfiles(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	page := string(s.send(t, 200, http.MethodGet, "/debug/pprof/", "", nil).Body)
	for _, name := range []string{"goroutine", "heap", "profile", "cmdline"} {
		if !strings.Contains(page, name) {
			t.Errorf("the page does not list %s: %.300s", name, page)
		}
	}
	s.send(t, 301, http.MethodGet, "/debug/pprof", "", nil) // leads there
	s.send(t, 200, http.MethodGet, "/debug/pprof/goroutine?debug=1", "", nil)
	s.send(t, 404, http.MethodGet, "/debug/pprof/heap/", "", nil)
}
