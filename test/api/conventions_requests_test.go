package api

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// sendWith sends a request with headers, as "Name: value".
func (s *testServer) sendWith(t testing.TB, method, path string, headers ...string) client.Answer {
	t.Helper()
	config := s.TLS
	if slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, "Authorization: ") }) {
		config = s.Anonymous()
	}
	return client.Exchange(t, client.Transport(t, config), method, s.URL+path, "", headers...)
}

// TestPretty: JSON is laid out when the query says so, or the client is one that people look at.
func TestPretty(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	for _, c := range []struct {
		path, agent string
		pretty      bool
	}{
		{configMaps + "/a", "", false},
		{configMaps + "/a?pretty=true", "", true},
		{configMaps + "/a?pretty=1", "", true},
		{configMaps + "/a?pretty=false", "curl/8", false},
		{configMaps + "/a?pretty=maybe", "curl/8", false},
		{configMaps + "/a?pretty", "", false},
		{configMaps + "/a", "curl/8.5.0", true},
		{configMaps + "/a", "Mozilla/5.0 (X11)", true},
		{configMaps + "/a", "Wget/1.21", true},
		{configMaps + "?pretty=true", "", true},
		{configMaps + "/none?pretty=true", "", true},
		{"/version?pretty=true", "", true},
		{"/api/v1?pretty=true", "", true},
	} {
		a := s.sendWith(t, http.MethodGet, c.path, "User-Agent: "+c.agent)
		if got := strings.HasPrefix(string(a.Body), "{\n  \""); got != c.pretty {
			t.Errorf("%s by %q: %.60s", c.path, c.agent, a.Body)
		}
		if a.Object() == nil {
			t.Errorf("%s: no JSON: %s", c.path, a.Body)
		}
	}
	a := s.send(t, 201, http.MethodPost, configMaps+"?pretty=true", client.JSON, client.ConfigMap("b", nil, nil))
	if !strings.HasPrefix(string(a.Body), "{\n  \"kind\"") {
		t.Errorf("a create: %s", a.Body)
	}
}

// TestMethods: what a path does not do is a 405 that says what it does.
func TestMethods(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	const all = "GET, PUT, PATCH, DELETE"
	for _, c := range []struct{ method, path, allow string }{
		{"PUT", configMaps, "GET, POST, DELETE"},
		{"PATCH", configMaps, "GET, POST, DELETE"},
		{"HEAD", configMaps, "GET, POST, DELETE"},
		{"POST", configMaps + "/a", all},
		{"HEAD", configMaps + "/a", all},
		{"OPTIONS", configMaps + "/a", all},
		{"TRACE", configMaps + "/a", all},
		{"POST", "/api/v1/configmaps", "GET"},
		{"DELETE", "/api/v1/configmaps", "GET"},
		{"DELETE", "/api/v1/namespaces", "GET, POST"},
		{"DELETE", "/api/v1/namespaces/default/pods/a/status", "GET, PUT, PATCH"},
		{"GET", "/api/v1/namespaces/default/pods/a/eviction", "POST"},
		{"PATCH", "/api/v1/namespaces/default/bindings", "POST"},
		{"GET", "/apis/authorization.platform.io/v1/subjectaccessreviews", "POST"},
		{"POST", "/api/v1/watch/namespaces/default/configmaps", "GET"},
		{"POST", "/version", "GET"},
		{"PUT", "/api/v1", "GET"},
		{"DELETE", "/livez", "GET, HEAD"},
	} {
		a := s.sendWith(t, c.method, c.path)
		if a.Code != 405 || a.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q, want %q", c.method, c.path, a.Code, a.Header.Get("Allow"), c.allow)
		}
		if c.method != "HEAD" {
			wantFault(t, a, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
		} else if len(a.Body) > 0 {
			t.Errorf("HEAD %s has a body", c.path)
		}
	}
	// Of what can only be created there is no path of an object, nor one of all namespaces.
	for _, path := range []string{
		"/api/v1/bindings", "/api/v1/bindings/a", "/api/v1/namespaces/default/bindings/a", "/apis/authorization.platform.io/v1/subjectaccessreviews/a",
		"/apis/authorization.platform.io/v1/localsubjectaccessreviews",
	} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			wantFault(t, s.sendWith(t, method, path), 404, "NotFound", "the server could not find the requested resource")
		}
	}
	for _, path := range []string{"/livez", "/readyz", "/healthz", "/livez/ping"} {
		if a := s.sendWith(t, "HEAD", path); a.Code != 200 || len(a.Body) > 0 {
			t.Errorf("HEAD %s: %v", path, a)
		}
	}
}

// TestUnknownPaths: a path of which nothing is known is a 404 that names no object; in plain text outside of the groups that are built in.
func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	for _, path := range []string{
		"/api/v2", "/apis/apps/v9", "/apis/apps/v9/deployments", "/api/v1/things",
		"/api/v1/things/a", "/api/v1/namespaces/default/things", "/api/v1/namespaces/default/nodes", "/api/v1/namespaces/default/configmaps/a/scale",
		"/api/v1/configmaps/a", "/api/v1/namespaces/default/pods/a/status/b", "/apis/apps/v1/namespaces/default/configmaps",
	} {
		wantFault(t, s.get(t, 404, path), 404, "NotFound", "the server could not find the requested resource")
	}
	for _, path := range []string{"/foo", "/openapi/v2/", "/apis/none", "/apis/none/", "/apis/none/v1", "/livez/none"} {
		if a := s.get(t, 404, path); string(a.Body) != "404 page not found\n" || a.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %v", path, a)
		}
	}
	wantFault(t, s.get(t, 0, configMaps+"/none"), 404, "NotFound", `configmaps "none" not found`)
	wantFault(t, s.get(t, 0, "/apis/apps/v1/namespaces/default/deployments/none"), 404, "NotFound", `deployments.apps "none" not found`)
}

// TestUpdateVersions: an update with a version is conditional; without, it replaces whatever is there.
func TestUpdateVersions(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	first := s.create(t, configMaps, "a", nil)
	put := func(code int, metadata string) client.Answer {
		t.Helper()
		return s.send(t, code, http.MethodPut, configMaps+"/a", client.JSON, fmt.Sprintf(`{"metadata":{%s},"data":{"n":%q}}`, metadata, metadata))
	}
	second := put(200, fmt.Sprintf(`"name":"a","resourceVersion":"%d"`, first)).Object()
	if second.Version() <= first {
		t.Error("no new version")
	}
	wantFault(t, put(0, fmt.Sprintf(`"name":"a","resourceVersion":"%d"`, first)), 409, "Conflict",
		`Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again`)
	third := put(200, `"name":"a"`).Object()
	if same := put(200, `"name":"a"`).Object(); same.Version() != third.Version() {
		t.Error("an update that changes nothing has made a version")
	}
	put(200, `"name":"a","resourceVersion":"0"`)
	put(422, `"name":"a","resourceVersion":"x"`)
	put(200, fmt.Sprintf(`"name":"a","uid":%q`, third.UID()))
	wantFault(t, put(0, `"name":"a","uid":"another"`), 409, "Conflict",
		`Operation cannot be fulfilled on configmaps "a": Precondition failed: UID in precondition: another, UID in object meta: `+third.UID())
	const leases = "/apis/coordination.platform.io/v1/namespaces/default/leases"
	s.send(t, 201, http.MethodPost, leases, client.JSON, `{"metadata":{"name":"l"}}`)
	a := s.send(t, 422, http.MethodPut, leases+"/l", client.JSON, `{"metadata":{"name":"l"}}`)
	if st := statusOf(t, a); !strings.HasSuffix(st.Message, "metadata.resourceVersion: Invalid value: 0: must be specified for an update") {
		t.Error(st.Message)
	}
}

// TestUpdateCreates: a PUT of what is absent creates it, for some kinds.
func TestUpdateCreates(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	for _, c := range []struct {
		code             int
		collection, body string
	}{
		{201, "/apis/coordination.platform.io/v1/namespaces/default/leases", ""},
		{201, "/api/v1/namespaces/default/endpoints", ""},
		{201, "/api/v1/namespaces/default/limitranges", `,"spec":{"limits":[]}`},
		{201, "/api/v1/namespaces/default/services", `,"spec":{"ports":[{"port":1}]}`},
		{201, "/api/v1/namespaces/default/events", `,"involvedObject":{"namespace":"default"}`},
		{201, "/apis/rbac.authorization.platform.io/v1/namespaces/default/roles", `,"rules":[]`},
		{201, "/apis/rbac.authorization.platform.io/v1/clusterroles", `,"rules":[]`},
		{404, configMaps, ""},
		{404, secrets, ""},
		{404, "/api/v1/namespaces/default/pods", `,"spec":{"containers":[{"name":"c","image":"i"}]}`},
		{404, "/api/v1/namespaces/none/endpoints", ""},
	} {
		a := s.send(t, c.code, http.MethodPut, c.collection+"/x", client.JSON, `{"metadata":{"name":"x"}`+c.body+`}`)
		if c.code == 201 && a.Object().UID() == "" {
			t.Errorf("%s: %v", c.collection, a)
		}
	}
}

// TestConventionNames: a body names the object of its path, or nothing.
func TestConventionNames(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	namespace := "the namespace of the provided object does not match the namespace sent on the request"
	for _, c := range []struct {
		method, path, metadata string
		code                   int
		message                string
	}{
		{"POST", configMaps, `"name":"b","namespace":"default"`, 201, ""},
		{"POST", configMaps, `"name":"b","namespace":"other"`, 400, namespace},
		{"PUT", configMaps + "/a", `"name":"a","namespace":"default"`, 200, ""},
		{"PUT", configMaps + "/a", `"name":"a","namespace":"other"`, 400, namespace},
		{"PUT", configMaps + "/a", `"name":"b"`, 400, "the name of the object (b) does not match the name on the URL (a)"},
		{"PUT", configMaps + "/a", ``, 400, "the name of the object (a based on URL) was undeterminable: name must be provided"},
		{"PATCH", configMaps + "/a", `"name":"b"`, 400, "the name of the object (b) does not match the name on the URL (a)"},
		{"PATCH", configMaps + "/a", `"name":null`, 400, "the name of the object (a based on URL) was undeterminable: name must be provided"},
		{"PATCH", configMaps + "/a", `"namespace":"other"`, 400, namespace},
		{"POST", configMaps, ``, 422, "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"},
		{"POST", "/api/v1/namespaces/none/configmaps", `"name":"b"`, 404, `namespaces "none" not found`},
	} {
		t.Run(c.method+" "+c.path+" "+c.metadata, func(t *testing.T) {
			contentType := client.JSON
			if c.method == "PATCH" {
				contentType = client.MergePatch
			}
			a := s.send(t, 0, c.method, c.path, contentType, `{"metadata":{`+c.metadata+`}}`)
			if a.Code != c.code {
				t.Errorf("want %d, got %v", c.code, a)
			}
			if c.code < 300 {
				return
			}
			if st := statusOf(t, a); st.Message != c.message {
				t.Errorf("got  %q\nwant %q", st.Message, c.message)
			}
		})
	}
}

// TestHeaders: what every answer bears.
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	ids := map[string]bool{}
	for _, path := range []string{configMaps, configMaps + "/a", configMaps + "/none", "/nothing", "/version", "/livez", "/api", configMaps + "?watch=1&timeoutSeconds=1"} {
		a := s.sendWith(t, http.MethodGet, path)
		id := a.Header.Get("Audit-Id")
		if len(id) != 36 || ids[id] {
			t.Errorf("%s: Audit-Id %q", path, id)
		}
		ids[id] = true
		if got := a.Header.Get("Cache-Control"); got != "no-cache, private" {
			t.Errorf("%s: Cache-Control %q", path, got)
		}
		if got := s.sendWith(t, http.MethodGet, path, "Audit-Id: my own").Header.Get("Audit-Id"); got != "my own" {
			t.Errorf("%s: Audit-Id %q is not the client's", path, got)
		}
	}
}

// TestRequestTimeout: a request has the time that it asks for, and no more than the server gives.
func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	if st := statusOf(t, s.get(t, 504, configMaps+"?timeout=1ms&resourceVersion="+futureVersion)); st.Reason != "Timeout" {
		t.Errorf("%+v", st)
	}
	for _, value := range []string{"x", "5"} {
		wantFault(t, s.get(t, 0, configMaps+"?timeout="+value), 400, "BadRequest", "invalid timeout specified in the request URL")
	}
	s.get(t, 200, configMaps+"?timeout=10h")
	s.get(t, 200, configMaps+"?timeout=0s")
	s.get(t, 200, configMaps+"?timeout=-1s")
}

// TestTooManyWatches: watches have a bound of their own; who is refused is told when to come again.
func TestTooManyWatches(t *testing.T) {
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	client.WriteFile(t, tokens, "jane-token,jane,u1\n")
	s := serveConventions(t, func(c *daemon.Config) { c.Authentication.TokenAuthFile, c.Serving.MaxWatches = tokens, 4 })
	s.Server = s.First(t)
	jane := func() client.Answer {
		return s.sendWith(t, "GET", configMaps+"?watch=1", "Authorization: Bearer jane-token")
	}
	if a := jane(); a.Code != 403 {
		t.Errorf("jane may not watch at all: %v", a)
	}
	s.create(t, configMaps, "a", nil)
	for range 4 {
		nextConventions(t, s.watch(t, configMaps), "ADDED/a")
	}
	a := jane()
	wantFault(t, a, 429, "TooManyRequests", "the server has received too many requests and has asked us to try again later")
	if a.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	nextConventions(t, s.watch(t, configMaps), "ADDED/a") // a master's, out of the reserve
	if a := s.get(t, 429, configMaps+"?watch=1"); a.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	s.get(t, 200, configMaps)
}
