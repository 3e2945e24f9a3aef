package openapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/openapi"
)

func newDocuments(t testing.TB, n *meta.Naming) (*openapi.Documents, *catalog.Catalog) {
	t.Helper()
	c, err := catalog.New(n)
	if err != nil {
		t.Fatal(err)
	}
	return openapi.New(openapi.Options{
		Naming: n, Kinds: c.Kinds(), Message: c.Message, Version: "v1.35.0",
		Patches: []string{"application/json-patch+json", "application/strategic-merge-patch+json"},
	}), c
}

// plain uncompresses a document.
func plain(t testing.TB, b []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTry(t *testing.T) {
	d, _ := newDocuments(t, meta.Kubernetes)
	t0 := time.Now()
	h := d.V2().Hash()
	t1 := time.Now()
	j := d.V2().Gzip(openapi.JSON)
	t2 := time.Now()
	p := d.V2().Gzip(openapi.Protobuf)
	t3 := time.Now()
	x := d.Index()
	t4 := time.Now()
	t.Log(h, len(j), len(plain(t, j)), len(p), len(plain(t, p)))
	t.Log(t1.Sub(t0), t2.Sub(t1), t3.Sub(t2), t4.Sub(t3))
	t.Log(string(x.Body))
	var v any
	if err := json.Unmarshal(plain(t, j), &v); err != nil {
		t.Fatal(err)
	}
	doc := plain(t, d.V3("api/v1").Gzip(openapi.JSON))
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	t.Log(string(doc[:6000]))
}
