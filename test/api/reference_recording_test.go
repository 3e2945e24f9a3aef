package api

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// A recorded case is named "group/topic" and runs its steps in order.
type recorded struct {
	Name  string
	Steps []step
}

type step struct {
	Request  referenceRequest
	Response referenceAnswer
	// Settles reports whether the response was recorded after a controller had processed the
	// previous steps.
	Settles bool
}

type referenceRequest struct {
	Method, Path string
	Headers      map[string]string
	// Body is sent unchanged if it is a string, and as JSON otherwise.
	Body json.RawMessage
	// Remember maps placeholders to the paths of values in the response, such as
	// "metadata.resourceVersion".
	Remember map[string]string
}

type referenceAnswer struct {
	Code        int
	ContentType string
	Warning     string
	Allow       string
	// Body is a string, an object, or the events of a watch.
	Body any
}

const namespacePlaceholder = "{ns}"

func recordings(t *testing.T) []recorded {
	t.Helper()
	files, err := filepath.Glob("testdata/reference/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	var all []recorded
	for _, file := range files {
		text := client.ReadFile(t, file)
		var raws []json.RawMessage
		if err := json.Unmarshal(text, &raws); err != nil {
			t.Fatal(file, err)
		}
		for _, raw := range raws {
			all = append(all, parseReference(t, raw))
		}
	}
	return all
}

func parseReference(t *testing.T, raw []byte) recorded {
	t.Helper()
	var named struct{ Name string }
	client.Decode(t, raw, &named)
	raw = bytes.ReplaceAll(raw, []byte(namespacePlaceholder), []byte(namespaceOf(named.Name)))
	var c recorded
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(named.Name, err)
	}
	return c
}

// namespaceOf returns the namespace of a case, which is its name with invalid characters replaced.
func namespaceOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}

func (r *referenceRequest) text(t *testing.T, name string) string {
	t.Helper()
	var s string
	switch {
	case len(r.Body) == 0 || string(r.Body) == "null":
		return ""
	case r.Body[0] != '"':
		return string(r.Body)
	}
	client.Decode(t, r.Body, &s)
	if strings.HasSuffix(s, " characters)") {
		return longBody(t, name)
	}
	return s
}

// longBody generates the body of a case for which the recording contains only the body's start and
// size.
func longBody(t *testing.T, name string) string {
	t.Helper()
	switch name {
	case "create/over-1MiB-configmap":
		const head, tail = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "`, `"}}`
		return head + strings.Repeat("x", 1048664-len(head)-len(tail)) + tail
	case "es/1001-endpoints":
		const head = `{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "x"}, "addressType": "IPv4", "endpoints": [`
		const endpoint = `{"addresses": ["10.1.0.1"]}`
		return head + strings.Repeat(endpoint+", ", 1000) + endpoint + "]}"
	}
	t.Fatalf("%s: the recording shortens the body, and longBody does not know it", name)
	return ""
}
