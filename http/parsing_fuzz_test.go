package http

import (
	"testing"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// newParsingServer is a Server with what reading requests needs.
func newParsingServer(f *testing.F) *Server {
	kinds, err := catalog.New(meta.Platform)
	if err != nil {
		f.Fatal(err)
	}
	return &Server{opts: Options{Catalog: kinds}, names: negotiate.NewNames(meta.Platform)}
}

// FuzzDeleteOptions: any body is DeleteOptions in one of the formats, or a 400 or 415; what it
// asks for can be checked.
func FuzzDeleteOptions(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `{"propagationPolicy":"Orphan","preconditions":{"uid":"u"},"dryRun":["All"]}`, "propagationPolicy: x\norphanDependents: true\n", "gracePeriodSeconds: 9999999999999999999\n",
		"k8s\x00\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions\x12\x08\x22\x06Orphan", "k8s\x00\x12\x02\x08\x01", `{"kind":"Pod"}`, `{"preconditions":null,"dryRun":null}`,
	} {
		for _, contentType := range []string{negotiate.TypeJSON, negotiate.TypeYAML, "application/vnd.platform.protobuf", "text/plain"} {
			f.Add(contentType, []byte(body))
		}
	}
	s := newParsingServer(f)
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		d, err := s.decodeDeleteBody(contentType, body)
		if err != nil {
			if code := meta.AsStatus(err).Code; code != 400 && code != 415 {
				t.Fatalf("%d %v", code, err)
			}
			return
		}
		var faults schema.Faults
		d.validateIgnoreReadError(&faults)
		switch policy := d.propagation(&faults); policy {
		case "", "Orphan", "Foreground", "Background":
		default:
			t.Fatalf("policy %q", policy)
		}
	})
}
