package http

import (
	"testing"

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
	return &Server{opts: Options{Catalog: kinds}, names: newAPINames(meta.Platform)}
}

// FuzzDeleteOptions: any body is DeleteOptions in one of the formats, or a 400 or 415; what it
// asks for can be checked.
func FuzzDeleteOptions(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `{"propagationPolicy":"Orphan","preconditions":{"uid":"u"},"dryRun":["All"]}`, "propagationPolicy: x\norphanDependents: true\n", "gracePeriodSeconds: 9999999999999999999\n",
		"k8s\x00\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions\x12\x08\x22\x06Orphan", "k8s\x00\x12\x02\x08\x01", `{"kind":"Pod"}`, `{"preconditions":null,"dryRun":null}`,
	} {
		for _, contentType := range []string{typeJSON, typeYAML, "application/vnd.platform.protobuf", "text/plain"} {
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

// FuzzAccept: any Accept header is answered in a format that is there, or by a 406.
func FuzzAccept(f *testing.F) {
	for _, accept := range []string{
		"", "*/*", "application/json;q=0.5,application/yaml", "application/json;as=Table;g=meta.platform.io;v=v1, application/json", "application/vnd.platform.protobuf;as=PartialObjectMetadata;g=meta.platform.io;v=v1",
		"application/json;q=nan", ",;,=", "application/json;as=;v=", "text/html",
	} {
		f.Add(accept, true, false)
		f.Add(accept, false, true)
	}
	s := newParsingServer(f)
	f.Fuzz(func(t *testing.T, accept string, shapes, streaming bool) {
		got, err := s.names.negotiate([]byte(accept), shapes, streaming)
		if err != nil {
			if code := meta.AsStatus(err).Code; code != 406 {
				t.Fatalf("%d %v", code, err)
			}
			return
		}
		if got.media == mediaNone || streaming && got.media == mediaYAML || !shapes && got.shape != 0 {
			t.Fatalf("%q: %+v", accept, got)
		}
	})
}

// FuzzHeaders: lines of headers are let through or refused, never more.
func FuzzHeaders(f *testing.F) {
	for _, lines := range []string{
		"Host: a\r\n\r\n", "Host: a\r\nHost: b\r\n\r\n", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "Authorization: x\r\nauthorization: y\r\n\r\n", "a : b\r\n", "Impersonate-User: x\r\n\r\n", " a\r\n", "\r\n", "a:\x00\r\n", ":\r\n",
	} {
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		if _, err := validateHeaderLines(lines); err != nil {
			if code := meta.AsStatus(err).Code; code != 400 && code != 401 && code != 403 {
				t.Fatalf("%d %v", code, err)
			}
		}
	})
}
