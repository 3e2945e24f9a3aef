package http_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	nethttp "net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

// TestOpenAPI tests that documents are indexed, negotiated, revalidated and authorized.
func TestOpenAPI(t *testing.T) {
	f := serve(t, nil)
	f.client.CheckRedirect = func(*nethttp.Request, []*nethttp.Request) error { return nethttp.ErrUseLastResponse }
	list, body := f.do("GET", "/openapi/v3", "")
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal([]byte(body), &index); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	url := index.Paths["api/v1"].ServerRelativeURL
	const protobuf = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
	cases := []struct {
		name, path, accept, etag string
		code                     int
		header, want             string
	}{
		{"at its hash", url, "", "", 200, "Cache-Control", "public, immutable"},
		{"at no hash", "/openapi/v3/api/v1", "", "", 200, "Cache-Control", "no-cache, private"},
		{"at another hash", "/openapi/v3/api/v1?hash=x", "", "", 301, "Location", url},
		{"as Protobuf", url, protobuf, "", 200, "Content-Type", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"},
		{"as the better of two", url, "application/json;q=0.1," + protobuf, "", 200, "Content-Type", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"},
		{"as a wildcard", "/openapi/v2", "text/html, */*;q=0.1", "", 200, "Content-Type", "application/json"},
		{"as nothing we have", "/openapi/v2", "text/html", "", 406, "Content-Type", "application/json"},
		{"as what is refused", "/openapi/v2", "application/json;q=0", "", 406, "Cache-Control", "no-cache, private"},
		{"the index again", "/openapi/v3", "", list.Header.Get("ETag"), 304, "ETag", list.Header.Get("ETag")},
		{"of no group", "/openapi/v3/apis/none/v1", "", "", 404, "Location", ""},
		{"of nothing", "/openapi/v3/", "", "", 404, "Location", ""},
		{"of no version", "/openapi/v1", "", "", 404, "Location", ""},
	}
	for _, c := range cases {
		answer, body := f.do("GET", c.path, "", "Accept", c.accept, "If-None-Match", c.etag)
		if answer.StatusCode != c.code || answer.Header.Get(c.header) != c.want {
			t.Errorf("%s: %d, %s %q; want %d, %q", c.name, answer.StatusCode, c.header, answer.Header.Get(c.header), c.code, c.want)
		}
		if c.code == 304 && body != "" {
			t.Errorf("%s: a body of %d bytes", c.name, len(body))
		}
	}
	if answer, _ := f.do("POST", "/openapi/v2", ""); answer.StatusCode != 405 {
		t.Errorf("POST: %d", answer.StatusCode)
	}
	if answer, _ := f.do("GET", "/openapi/v2", "", "Authorization", "Bearer jane"); answer.StatusCode != 403 {
		t.Errorf("without the right: %d", answer.StatusCode)
	}
}

func TestOpenAPICompressed(t *testing.T) {
	f := serve(t, nil)
	plain, text := f.do("GET", "/openapi/v2", "")
	zipped, bytes := f.do("GET", "/openapi/v2", "", "Accept-Encoding", "gzip")
	if plain.Header.Get("Content-Encoding") != "" || zipped.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("encodings %q, %q", plain.Header.Get("Content-Encoding"), zipped.Header.Get("Content-Encoding"))
	}
	r := must.Get(gzip.NewReader(strings.NewReader(bytes)))(t)
	if unzipped, err := io.ReadAll(r); err != nil || string(unzipped) != text {
		t.Errorf("%d bytes unzipped, %d plain, %v", len(unzipped), len(text), err)
	}
	if plain.Header.Get("ETag") != zipped.Header.Get("ETag") || plain.Header.Get("Vary") != "Accept, Accept-Encoding" {
		t.Errorf("headers %v", plain.Header)
	}
}
