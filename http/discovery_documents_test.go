package http_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/http/internal/discovery"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/openapi"
)

// TestCache tests that documents are not rebuilt while the kinds are unchanged, and that the index
// lists fixed paths and versions only once, sorted.
func TestCache(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Kubernetes))(t)
	c := discovery.NewCache(discovery.Options{Naming: meta.Kubernetes, Catalog: kinds, FixedPaths: []string{"/version", "/api"}})
	d := c.Current()
	if c.Current() != d {
		t.Error("the documents are made again")
	}
	index := string(d.Index())
	if !strings.HasPrefix(index, `{"paths":["/api","/api/v1","/apis/`) || !strings.HasSuffix(index, `"/version"]}`) || strings.Count(index, `"/apis/apps/v1"`) != 1 {
		t.Errorf("the index is %s", index)
	}
	if d.OpenAPIV3("apis/apps/v1") == nil || d.OpenAPIV3("apis/none/v1") != nil || len(d.Resources("apps", "v1")) == 0 {
		t.Error("documents are missing, or there are too many")
	}
}

func TestMatchesETag(t *testing.T) {
	for header, want := range map[string]bool{
		``: false, `"a"`: true, `"b"`: false, `"b", "a"`: true, `W/"a"`: true, `*`: true, `"b",*`: true, `a`: false,
	} {
		if discovery.MatchesETag(header, `"a"`) != want {
			t.Errorf("%q: %t", header, !want)
		}
	}
}

// TestOpenAPIFormat tests that the first media type with the highest weight is selected, and that
// the old name of the Protobuf format is also accepted.
func TestOpenAPIFormat(t *testing.T) {
	const old = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	for _, c := range []struct {
		accept string
		want   openapi.Format
		ok     bool
	}{
		{"", openapi.JSON, true},
		{"*/*", openapi.JSON, true},
		{old, openapi.Protobuf, true},
		{discovery.OpenAPIProtobuf("v2"), openapi.Protobuf, true},
		{discovery.OpenAPIProtobuf("v3"), openapi.JSON, false},
		{"application/json;q=0.5, " + old + ";q=0.9", openapi.Protobuf, true},
		{"application/json, " + old, openapi.JSON, true},
		{"text/html", openapi.JSON, false},
	} {
		if got, ok := discovery.OpenAPIFormat(c.accept, "v2"); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %v, %t", c.accept, got, ok)
		}
	}
}
