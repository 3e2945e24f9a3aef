package api

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/test/client"
)

// TestLargeLists checks that a list streamed object by object is byte for byte the same as a list
// encoded as a whole. It covers small and large lists, compression and HTTP/1.0.
func TestLargeLists(t *testing.T) {
	t.Parallel()
	a := serveRepresentation(t)
	texts := []string{
		strings.Repeat("words and more words, ", 60), "a\nb\n\n  c\n", "\n", " lead", "trail ", "null", "1e3", "é\u2028\U0001F600\\\"", "- x: y\n# z",
		strings.Repeat("x", 5000), "<&>", "a: b", "|-", "\ttab\r\n",
	}
	for n := range 120 {
		data := map[string]string{}
		for i := range 3 {
			data[fmt.Sprintf("k%d", i)] = texts[(n+i*5)%len(texts)]
		}
		body := client.Encode(t, map[string]any{"metadata": map[string]any{"name": fmt.Sprintf("m%03d", n)}, "data": data})
		if answer, err := a.Create(t.Context(), configMaps, body); err != nil || answer.Code != 201 {
			t.Fatalf("%v %v", answer, err)
		}
	}
	for _, shape := range []string{"", "Table", "PartialObjectMetadataList"} {
		for _, query := range []string{"?", "?limit=5", "?labelSelector=none", "?includeObject=Object"} {
			t.Run(shape+query, func(t *testing.T) { a.sameInEveryForm(t, configMaps+query, shape) })
		}
	}
}

// sameInEveryForm derives the other representations of a list from its JSON, and compares them with
// the server's.
func (a *requester) sameInEveryForm(t *testing.T, path, shape string) {
	accept := func(media string) string {
		if shape != "" {
			media += ";as=" + shape + ";g=meta.k8s.io;v=v1"
		}
		return media
	}
	// Retry, because ages in tables and list versions may change between two responses.
	steady := func(name string, derive func([]byte) []byte, get func() []byte) {
		t.Helper()
		for range 20 {
			before := a.get(t, path, accept(client.JSON), client.JSON)
			got := get()
			want := derive(before)
			if bytes.Equal(got, want) {
				return
			}
			if bytes.Equal(before, a.get(t, path, accept(client.JSON), client.JSON)) {
				at := 0
				for at < min(len(got), len(want)) && got[at] == want[at] {
					at++
				}
				t.Errorf("%s: %d bytes, want %d; at %d %.100q, want %.100q", name, len(got), len(want), at, got[at:], want[at:])
				return
			}
		}
		t.Errorf("%s never settles", name)
	}
	steady("pretty", func(doc []byte) []byte {
		var b bytes.Buffer
		if err := json.Indent(&b, bytes.TrimSuffix(doc, []byte("\n")), "", "  "); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}, func() []byte { return a.get(t, path+"&pretty=1", accept(client.JSON), client.JSON) })
	steady("YAML", func(doc []byte) []byte {
		text, err := yaml.JSONToYAML(doc)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}, func() []byte { return a.get(t, path, accept("application/yaml"), "application/yaml") })
	same := func(doc []byte) []byte { return doc }
	steady("gzip", same, func() []byte { return a.raw(t, path, accept(client.JSON), "1.1") })
	steady("HTTP/1.0", same, func() []byte { return a.raw(t, path, accept(client.JSON), "1.0") })
	if shape == "Table" {
		return
	}
	for _, version := range []string{"1.0", "1.1"} {
		plain := func([]byte) []byte { return a.get(t, path, accept(protobufType), protobufType) }
		steady("Protobuf of HTTP/"+version, plain, func() []byte { return a.raw(t, path, accept(protobufType), version) })
	}
}

// raw sends a request with the given HTTP version. With version 1.1, it accepts gzip.
func (a *requester) raw(t *testing.T, path, accept, version string) []byte {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(a.URL, "https://"), a.TLS.Clone())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(client.Watchdog))
	encoding := ""
	if version == "1.1" {
		encoding = "Accept-Encoding: gzip\r\n"
	}
	fmt.Fprintf(conn, "GET %s HTTP/%s\r\nHost: x\r\nAccept: %s\r\n%sConnection: close\r\n\r\n", path, version, accept, encoding)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if version == "1.0" && (answer.ContentLength < 0 || len(answer.TransferEncoding) > 0) {
		t.Errorf("HTTP/1.0 gets %v", answer.Header)
	}
	body := io.Reader(answer.Body)
	if answer.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
