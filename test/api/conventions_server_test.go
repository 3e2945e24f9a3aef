package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const metaName = "meta.platform.io"

type testServer struct {
	*client.Server
	t testing.TB
}

func serveConventions(t testing.TB, change func(*daemon.Config)) *testServer {
	t.Helper()
	return &testServer{client.Serve(t, t.TempDir(), change), t}
}

func quickBookmarks(c *daemon.Config) {
	c.Watches.BookmarkPeriod = daemon.Duration(100 * time.Millisecond)
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), client.Watchdog)
	t.Cleanup(cancel)
	return ctx
}

// send sends one request and checks the status code. A code of 0 accepts any response.
func (s *testServer) send(t testing.TB, code int, method, path, contentType string, body any) client.Answer {
	t.Helper()
	if text, ok := body.(string); ok {
		body = []byte(text)
	}
	answer, err := s.Do(within(t), method, path, contentType, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if code != 0 && answer.Code != code {
		t.Fatalf("%s %s: want %d, got %v", method, path, code, answer)
	}
	return answer
}

func (s *testServer) get(t testing.TB, code int, path string) client.Answer {
	t.Helper()
	return s.send(t, code, http.MethodGet, path, "", nil)
}

func (s *testServer) create(t testing.TB, collection, name string, labels map[string]string) uint64 {
	t.Helper()
	return s.send(t, 201, http.MethodPost, collection, client.JSON, client.ConfigMap(name, labels, nil)).Object().Version()
}

type status struct {
	Status, Message, Reason string
	Code                    int
	Metadata                struct{ Continue string }
}

func statusOf(t testing.TB, a client.Answer) (s status) {
	t.Helper()
	if err := json.Unmarshal(a.Body, &s); err != nil || s.Code != a.Code {
		t.Errorf("not the Status of its answer: %v (%v)", a, err)
	}
	return s
}

func wantFault(t testing.TB, a client.Answer, code int, reason, message string) {
	t.Helper()
	if s := statusOf(t, a); a.Code != code || s.Reason != reason || s.Message != message {
		t.Errorf("got  %d %s %q\nwant %d %s %q", a.Code, s.Reason, s.Message, code, reason, message)
	}
}

type listing struct {
	Kind     string
	Metadata struct {
		ResourceVersion, Continue string
		RemainingItemCount        *int
	}
	Items []client.Object
}

func listOf(t testing.TB, a client.Answer) (l listing) {
	t.Helper()
	if err := json.Unmarshal(a.Body, &l); err != nil || a.Code != 200 {
		t.Fatalf("not a list: %v (%v)", a, err)
	}
	return l
}

func (l listing) names() string {
	var out []string
	for _, o := range l.Items {
		out = append(out, o.Name())
	}
	return strings.Join(out, " ")
}

func (l listing) version() uint64 {
	v, _ := strconv.ParseUint(l.Metadata.ResourceVersion, 10, 64)
	return v
}

func textConventions(version uint64) string { return strconv.FormatUint(version, 10) }
