package http_test

import (
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
)

// pageNotFound is the plain text response for unknown paths.
const pageNotFound = "404 page not found\n"

func TestResponses(t *testing.T) {
	cases := []struct {
		name, method, path, body string
		headers                  []string
		code                     int
		message                  string // of the Status; part of the body if code < 400
	}{
		{"unknown resource", "GET", "/api/v1/namespaces/x/gizmos", "", nil, 404, "the server could not find the requested resource"},
		{"unknown subresource", "GET", configMapsPath + "/a/status", "", nil, 404, "the server could not find the requested resource"},
		{"unknown version", "GET", "/api/v9", "", nil, 404, "the server could not find the requested resource"},
		{"unknown version of a group", "GET", "/apis/apps/v9", "", nil, 404, "the server could not find the requested resource"},
		{"unknown group", "GET", "/apis/e.com", "", nil, 404, pageNotFound},
		{"version of an unknown group", "GET", "/apis/e.com/v1", "", nil, 404, pageNotFound},
		{"unknown path", "GET", "/foo", "", nil, 404, pageNotFound},
		{"trailing slash", "GET", "/openapi/v2/", "", nil, 404, pageNotFound},
		{"method of a sub-resource", "POST", "/api/v1/namespaces/x/status", "{}", nil, 405, "the server does not allow this method on the requested resource"},
		{"put of a collection", "PUT", configMapsPath, configMap("a"), nil, 405, "the server does not allow this method on the requested resource"},
		{"create in all namespaces", "POST", "/api/v1/configmaps", configMap("a"), nil, 405, "the server does not allow this method on the requested resource"},
		{"post to version", "POST", "/version", "", nil, 405, "the server does not allow this method on the requested resource"},
		{"bad token", "GET", configMapsPath, "", []string{"Authorization", "Bearer bad"}, 401, "Unauthorized"},
		{"no rights", "GET", configMapsPath, "", []string{"Authorization", "Bearer jane"}, 403, `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "x"`},
		{"no rights to one", "GET", configMapsPath + "/a", "", []string{"Authorization", "Bearer jane"}, 403, `configmaps "a" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "x"`},
		{"impersonation", "GET", configMapsPath, "", []string{"imPersonate-user", "jane"}, 403, `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "x"`},
		{"impersonation without the right", "GET", configMapsPath, "", []string{"Authorization", "Bearer jane", "Impersonate-User", "admin"}, 403, `users "admin" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope`},
		{"impersonation of nobody", "GET", "/livez", "", []string{"Impersonate-Group", "g"}, 400, "requested [{Group  g    }] without impersonating a user"},
		{"xml", "GET", configMapsPath, "", []string{"Accept", "application/xml"}, 406, "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.platform.protobuf"},
		{"partial of a list", "GET", configMapsPath, "", []string{"Accept", "application/json;as=PartialObjectMetadata;g=meta.platform.io;v=v1"}, 406, "you requested PartialObjectMetadata, but the requested object is a list (ConfigMapList)"},
		{"field selector", "GET", configMapsPath + "?fieldSelector=abc", "", nil, 400, "invalid selector: 'abc'; can't understand 'abc'"},
		{"version", "GET", configMapsPath + "?resourceVersion=abc", "", nil, 400, `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`},
		{"timeout", "GET", configMapsPath + "?watch=1&timeoutSeconds=x", "", nil, 400, `strconv.ParseInt: parsing "x": invalid syntax`},
		{"token and version", "GET", configMapsPath + "?limit=2&continue=t&resourceVersion=5", "", nil, 400, "specifying resource version is not allowed when using continue"},
		{"match alone", "GET", configMapsPath + "?resourceVersionMatch=Exact", "", nil, 422, `ListOptions.meta.platform.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`},
		{"exact 0", "GET", configMapsPath + "?resourceVersion=0&resourceVersionMatch=Exact", "", nil, 422, `ListOptions.meta.platform.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`},
		{"match and token", "GET", configMapsPath + "?limit=1&continue=abc&resourceVersionMatch=NotOlderThan", "", nil, 422, `ListOptions.meta.platform.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided]`},
		{"initial events", "GET", configMapsPath + "?watch=1&sendInitialEvents=true", "", nil, 422, `ListOptions.meta.platform.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`},
		{"dry run", "POST", configMapsPath + "?dryRun=Some", configMap("a"), nil, 422, `CreateOptions.meta.platform.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"`},
		{"strict", "POST", configMapsPath + "?fieldValidation=Strict", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"Data":{"a":"b"}}`, nil, 400, `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "Data"`},
		{"other namespace", "PUT", configMapsPath + "/a", `{"metadata":{"name":"a","namespace":"other"}}`, nil, 400, "the namespace of the provided object does not match the namespace sent on the request"},
		{"other name", "PUT", configMapsPath + "/a", configMap("b"), nil, 400, "the name of the object (b) does not match the name on the URL (a)"},
		{"other kind", "POST", configMapsPath, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`, nil, 400, `Pod in version "v1" cannot be handled as a ConfigMap: the kind in the data does not match the expected kind`},
		{"wrong type", "POST", configMapsPath, `{"metadata":{"name":"a"},"data":{"a":1}}`, nil, 400, `ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string`},
		{"other version", "POST", configMapsPath, `{"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"a"}}`, nil, 400, "the API version in the data (v2) does not match the expected API version (v1)"},
		{"body type", "POST", configMapsPath, "<a/>", []string{"Content-Type", "text/xml"}, 415, "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.platform.protobuf"},
		{"patch type", "PATCH", configMapsPath + "/a", "{}", []string{"Content-Type", "application/json"}, 415, "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml"},
		{"apply without a manager", "PATCH", configMapsPath + "/a", "{}", []string{"Content-Type", "application/apply-patch+yaml"}, 422, `PatchOptions.meta.platform.io "" is invalid: fieldManager: Required value: is required for apply patch`},
		{"delete body", "DELETE", configMapsPath + "/a", "{", nil, 400, "couldn't get version/kind; json parse error: unexpected end of JSON input"},
		{"garbage protobuf", "POST", configMapsPath, "k8s\x00garbage", []string{"Content-Type", "application/vnd.platform.protobuf"}, 400, ""},
		{"too large", "POST", configMapsPath, strings.Repeat(" ", 3<<20+1), nil, 413, "Request entity too large: limit is 3145728"},
		{"escape", "GET", configMapsPath + "?limit=%2", "", nil, 400, "the query holds a bad escape"},
		{"livez", "GET", "/livez", "", nil, 200, "ok"},
		{"one check", "GET", "/healthz/ping", "", nil, 200, "ok"},
		{"verbose", "GET", "/readyz?verbose", "", nil, 200, "[+]ping ok\n[+]shutdown ok\nreadyz check passed\n"},
		{"exclude", "GET", "/livez?verbose&exclude=ping", "", nil, 200, "[+]ping excluded: ok\n"},
		{"no check", "GET", "/livez/nope", "", nil, 404, pageNotFound},
		{"version page", "GET", "/version", "", nil, 200, `"gitVersion": "v1.35.0+troupe.0.1.0"`},
		{"root", "GET", "/", "", nil, 200, `"/api/v1"`},
		{"resources", "GET", "/api/v1", "", nil, 200, `"APIResourceList"`},
		{"groups", "GET", "/apis", "", nil, 200, `"APIGroupList"`},
		{"metrics", "GET", "/metrics", "", nil, 200, "# TYPE apiserver_request_total counter\n"},
		{"yaml", "GET", "/version", "", nil, 200, "major"},
	}
	f := serve(t, nil)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := &testServer{TB: t, store: f.store, url: f.url, client: f.client}
			resp, body := f.do(c.method, c.path, c.body, c.headers...)
			if resp.StatusCode != c.code {
				t.Fatalf("code %d: %s", resp.StatusCode, body)
			}
			if c.code < 400 {
				if !strings.Contains(body, c.message) {
					t.Errorf("body %q", body)
				}
				return
			}
			if c.message == pageNotFound {
				if body != pageNotFound || resp.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
					t.Errorf("got %q %v", body, resp.Header)
				}
				return
			}
			if s := f.parseStatus(body); s.Code != c.code || c.message != "" && s.Message != c.message || s.Status != "Failure" {
				t.Errorf("got %+v\nwant %q", s, c.message)
			}
		})
	}
}

func TestHead(t *testing.T) {
	f := serve(t, nil)
	if resp, body := f.do("HEAD", configMapsPath+"/a", ""); resp.StatusCode != 405 || body != "" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

// TestUnfinishedList tests that a list that fails before its first byte is an error, and is cut
// afterwards.
func TestUnfinishedList(t *testing.T) {
	f := serve(t, nil)
	const table = "application/json;as=Table;g=meta.platform.io;v=v1"
	for n := range 40 {
		f.do("POST", configMapsPath, fmt.Sprintf(`{"metadata":{"name":"a%d"},"data":{"k":%q}}`, n, strings.Repeat("x", 10_000)))
	}
	for _, form := range []struct{ path, accept, coding string }{
		{configMapsPath, table, "identity"}, {configMapsPath, table, "gzip"}, {configMapsPath + "?pretty=1", table, "identity"},
		{configMapsPath + "?includeObject=Object", strings.Replace(table, "json", "yaml", 1), "identity"},
	} {
		f.store.conversions.Store(0)
		f.store.failAt.Store(2)
		resp, text := f.do("GET", form.path, "", "Accept", form.accept, "Accept-Encoding", form.coding)
		if resp.StatusCode != 500 || resp.Header.Get("Content-Encoding") != "" || f.parseStatus(text).Reason != "InternalError" ||
			!strings.Contains(text, resp.Header.Get("Audit-Id")) {
			t.Errorf("%v: %d %.300s", form, resp.StatusCode, text)
		}
	}
	f.store.conversions.Store(0)
	f.store.failAt.Store(30)
	r := must.Get(nethttp.NewRequest("GET", f.url+configMapsPath+"?includeObject=Object", nil))(t)
	r.Header.Set("Accept", table)
	resp := must.Get(f.client.Do(r))(t)
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); resp.StatusCode != 200 || err == nil {
		t.Errorf("%d, and not cut", resp.StatusCode)
	}
}

// TestEarlyErrors tests that an error of a filter has the accepted format, or JSON.
func TestEarlyErrors(t *testing.T) {
	f := serve(t, func(o *http.Options) { o.CBOR = true })
	for token, code := range map[string]int{"jane": 403, "bad": 401} {
		for accept, want := range map[string]string{
			"application/vnd.platform.protobuf, application/json": "application/vnd.platform.protobuf",
			"application/yaml": "application/yaml", "application/cbor": "application/cbor", "text/html": "application/json",
			"application/json;as=Table;g=meta.platform.io;v=v1,application/yaml": "application/yaml",
		} {
			resp, body := f.do("GET", configMapsPath, "", "Authorization", "Bearer "+token, "Accept", accept)
			if got := resp.Header.Get("Content-Type"); resp.StatusCode != code || got != want || strings.HasPrefix(body, "{") != (want == "application/json") {
				t.Errorf("%s to %s: %d %s %q", accept, token, resp.StatusCode, got, body)
			}
		}
	}
}
