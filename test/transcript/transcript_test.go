package transcript

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// mirror is a handler that returns the request in a Status or another object. For a watch it
// returns two events.
func mirror(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", client.JSON)
	switch {
	case r.URL.Path == "/api/v1/namespaces":
		w.WriteHeader(http.StatusCreated)
	case r.URL.Query().Has("watch"):
		fmt.Fprint(w, `{"type":"ADDED","object":{"metadata":{"name":"a","uid":"u"}}}{"type":"BOOKMARK","object":{}}{"type":"DELETED","object":{"metadata":{"name":"a"}}}`)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusConflict)
		fmt.Fprintf(w, `{"kind":"Status","status":"Failure","code":409,"reason":"Conflict","message":"%s is busy\nfor long","details":{"causes":[{"field":"a[0]","reason":"R","message":"m"}]}}`, r.URL.Path)
	case r.Method == http.MethodPatch:
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "%s as %s\n\n%s", r.Header.Get("Content-Type"), r.Header.Get("Impersonate-User"), body)
	default:
		fmt.Fprintf(w, `{"metadata":{"uid":%q,"resourceVersion":"7","creationTimestamp":"2026-01-02T03:04:05Z","annotations":{"a.io/b":"2000-01-01T00:00:00Z"}},"list":[{"x":1},{"x":2}],"path":%q,"content":%q}`,
			strings.Repeat("u", len(body)), r.URL.Path, body)
	}
}

// TestPlantedMismatches replays a correct transcript, and one with wrong responses, whose failures
// must match a golden file.
func TestPlantedMismatches(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(mirror))
	t.Cleanup(server.Close)
	c := client.Over(server.URL, &http.Transport{})
	o := Options{Variables: map[string]string{"word": "hello"}}
	Run(t, c, "testdata/right.txt", o)
	text := string(client.ReadFile(t, "testdata/wrong.txt"))
	blocks, err := parse("wrong.txt", text)
	if err != nil || format(blocks) != text {
		t.Fatalf("%v, formatted:\n%s", err, format(blocks))
	}
	var failures strings.Builder
	p := newPlayer(t, c, "testdata/wrong.txt", o)
	for _, b := range blocks {
		answer, err := p.play(b)
		fmt.Fprintf(&failures, "%d: %s %v\n", b.line, p.compare(b, answer), err)
	}
	Golden(t, "testdata/failures.golden", failures.String())
	if _, err := parse("bad.txt", "# no request\nget /\n"); err == nil || err.Error() != "bad.txt:2: neither a request nor a default: get /" {
		t.Errorf("a bad file: %v", err)
	}
}
