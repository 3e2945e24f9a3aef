package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

var profiles = []string{"kubernetes", "platform"}

const (
	protobuf2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	protobuf3 = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
)

func serveOpenAPI(t *testing.T, profile string) *client.Server {
	t.Helper()
	return client.Serve(t, t.TempDir(), func(c *daemon.Config) { c.Naming = profile })
}

type openAPIAnswer struct {
	code   int
	header http.Header
	body   []byte
}

// getOpenAPI sends a GET request. headers is a list of name, value pairs.
func getOpenAPI(t *testing.T, s *client.Server, path string, headers ...string) openAPIAnswer {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{TLSClientConfig: s.TLS, DisableCompression: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.Header.Get("Content-Encoding") == "gzip" {
		unzip, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body, err = io.ReadAll(unzip); err != nil {
			t.Fatal(err)
		}
	}
	return openAPIAnswer{response.StatusCode, response.Header, body}
}

// document returns a document in the given media type, and checks that the compressed response has
// the same content.
func document(t *testing.T, s *client.Server, path, accept string) []byte {
	t.Helper()
	a := getOpenAPI(t, s, path, "Accept", accept)
	if a.code != 200 {
		t.Fatalf("%s: %d %s", path, a.code, a.body)
	}
	zipped := getOpenAPI(t, s, path, "Accept", accept, "Accept-Encoding", "gzip")
	if zipped.header.Get("Content-Encoding") != "gzip" || !bytes.Equal(zipped.body, a.body) {
		t.Errorf("%s: compressed it is another document", path)
	}
	if zipped.header.Get("ETag") != a.header.Get("ETag") || len(a.header.Get("ETag")) < 32 {
		t.Errorf("%s: ETag %s, compressed %s", path, a.header.Get("ETag"), zipped.header.Get("ETag"))
	}
	return a.body
}

func index(t *testing.T, s *client.Server) map[string]string {
	t.Helper()
	var list struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	client.Decode(t, getOpenAPI(t, s, "/openapi/v3").body, &list)
	urls := map[string]string{}
	for path, entry := range list.Paths {
		urls[path] = entry.ServerRelativeURL
	}
	return urls
}

func TestServed(t *testing.T) {
	t.Parallel()
	s := serveOpenAPI(t, "kubernetes")
	urls := index(t, s)
	for _, path := range []string{"api", "apis", "version", "api/v1"} {
		if !strings.HasPrefix(urls[path], "/openapi/v3/"+path+"?hash=") {
			t.Errorf("%s is at %q", path, urls[path])
		}
	}
	url := urls["api/v1"]
	a := getOpenAPI(t, s, url)
	if a.header.Get("Cache-Control") != "public, immutable" || a.header.Get("Expires") == "" || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("under its hash: %v", a.header)
	}
	etag := a.header.Get("ETag")
	cases := []struct {
		name, path string
		headers    []string
		code       int
		want       map[string]string
	}{
		{"the same", url, []string{"If-None-Match", etag}, 304, map[string]string{"ETag": etag, "Cache-Control": "public, immutable"}},
		{"without a hash", "/openapi/v3/api/v1", nil, 200, map[string]string{"Expires": "", "ETag": etag}},
		{"another hash", "/openapi/v3/api/v1?hash=12", nil, 301, map[string]string{"Location": url}},
		{"nothing there", "/openapi/v3/apis/none/v1", nil, 404, nil},
		{"nothing there, with a hash", "/openapi/v3/apis?x=y&hash=%0d%0aA:b", nil, 301, map[string]string{"Location": urls["apis"], "A": ""}},
		{"Protobuf", url, []string{"Accept", protobuf3}, 200, map[string]string{"Content-Type": strings.Replace(protobuf3, "@", ".", 1)}},
		{"Protobuf of version 2", "/openapi/v2", []string{"Accept", protobuf2}, 200, map[string]string{"Content-Type": strings.Replace(protobuf2, "@", ".", 1)}},
		{"the better one", "/openapi/v2", []string{"Accept", "application/json;q=0.5, " + protobuf2}, 200, map[string]string{"Content-Type": strings.Replace(protobuf2, "@", ".", 1)}},
		{"the first of two", "/openapi/v2", []string{"Accept", "application/json," + protobuf2}, 200, map[string]string{"Content-Type": "application/json"}},
		{"anything", "/openapi/v2", []string{"Accept", "text/html,*/*;q=0.8"}, 200, map[string]string{"Content-Type": "application/json", "Vary": "Accept, Accept-Encoding"}},
		{"not acceptable", "/openapi/v2", []string{"Accept", "text/html"}, 406, nil},
		{"the wrong version", "/openapi/v2", []string{"Accept", protobuf3}, 406, nil},
	}
	for _, c := range cases {
		a := getOpenAPI(t, s, c.path, c.headers...)
		if a.code != c.code {
			t.Errorf("%s: %d, want %d", c.name, a.code, c.code)
		}
		for name, value := range c.want {
			if a.header.Get(name) != value {
				t.Errorf("%s: %s is %q, want %q", c.name, name, a.header.Get(name), value)
			}
		}
	}
	list := getOpenAPI(t, s, "/openapi/v3")
	if again := getOpenAPI(t, s, "/openapi/v3", "If-None-Match", list.header.Get("ETag")); again.code != 304 || len(again.body) > 0 {
		t.Errorf("the index again: %d", again.code)
	}
}

// TestPublishedTexts checks that the v2 document contains texts that scripts search for: phrases
// in descriptions, the watch paths, and the trailing slash of group paths.
func TestPublishedTexts(t *testing.T) {
	t.Parallel()
	s := serveOpenAPI(t, "kubernetes")
	text := string(getOpenAPI(t, s, "/openapi/v2").body)
	for _, part := range []string{
		"list of returned", "List of services", "Watch for changes to the described resources",
		`"/api/v1/watch/namespaces/{namespace}/pods/{name}":`, `"/apis/apps/":`, `"/apis/apps/v1/":`, `"/version/":`,
		`"watchAppsV1DeploymentListForAllNamespaces"`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the document lacks %s", part)
		}
	}
	for _, path := range []string{"/apis/apps/", "/version/", "/api/v1/watch/pods?timeoutSeconds=1"} {
		if a := getOpenAPI(t, s, path); a.code != 200 {
			t.Errorf("%s: %d", path, a.code)
		}
	}
}
