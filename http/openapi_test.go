package http_test

import (
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

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
