package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// initialEnd is the annotation of the bookmark that ends the initial events.
const initialEnd = "platform.io/initial-events-end"

// watch starts a watch. path may contain a query, to which Client.Watch adds watch=1.
func (s *testServer) watch(t testing.TB, path string) *client.Watch {
	t.Helper()
	path, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Watch(within(t), path, values)
	if err != nil {
		t.Fatalf("watch %s?%s: %v", path, query, err)
	}
	t.Cleanup(w.Close)
	return w
}

// brief formats an event as one word: ADDED/name, ERROR/code, BOOKMARK, or BOOKMARK! for the
// bookmark that ends the initial events.
func brief(e client.Event) string {
	switch e.Type {
	case client.Bookmark:
		if notes, _ := e.Object.Metadata()["annotations"].(map[string]any); notes[initialEnd] == "true" {
			return "BOOKMARK!"
		}
		return e.Type
	case client.Error:
		return fmt.Sprint(e.Type, "/", e.Code())
	}
	return e.Type + "/" + e.Object.Name()
}

// nextConventions checks that the next events are those in want, one word per event. It skips
// bookmarks that want does not contain.
func nextConventions(t testing.TB, w *client.Watch, want string) (last client.Event) {
	t.Helper()
	var got []string
	for _, word := range strings.Fields(want) {
		for {
			e, err := w.Next()
			if err != nil {
				t.Fatalf("after %q: %v", got, err)
			}
			if last = e; brief(e) != "BOOKMARK" || word == "BOOKMARK" {
				got = append(got, brief(e))
				break
			}
		}
	}
	if text := strings.Join(got, " "); text != want {
		t.Fatalf("got %q, want %q", text, want)
	}
	return last
}

// ended checks that the watch ends cleanly, with no further events except bookmarks.
func ended(t testing.TB, w *client.Watch) {
	t.Helper()
	for {
		e, err := w.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil || e.Type != client.Bookmark {
			t.Fatalf("instead of the end %s, %v", brief(e), err)
		}
	}
}

func (s *testServer) version(t testing.TB) uint64 {
	t.Helper()
	return listOf(t, s.get(t, 200, configMaps+"?limit=1")).version()
}

// TestBookmarks checks that bookmarks are sent only on request, and contain only kind, apiVersion
// and resourceVersion. The version must be at least that of the last delivered event.
func TestBookmarks(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, quickBookmarks)
	start := s.create(t, configMaps, "a", nil)
	w := s.watch(t, configMaps+"?allowWatchBookmarks=true&resourceVersion="+textConventions(start))
	elsewhere := s.send(t, 201, http.MethodPost, "/api/v1/namespaces/default/secrets", client.JSON, `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"}}`).Object().Version()
	for seen := start; seen < elsewhere; {
		e := nextConventions(t, w, "BOOKMARK")
		if e.Object.Version() < seen || e.Object["kind"] != "ConfigMap" || e.Object["apiVersion"] != "v1" || len(e.Object) != 3 || len(e.Object.Metadata()) != 1 {
			t.Fatalf("%v after %d", e.Object, seen)
		}
		seen = e.Object.Version()
	}
	a := s.get(t, 200, configMaps+"?watch=1&timeoutSeconds=1&resourceVersion="+textConventions(start))
	if len(a.Body) != 0 {
		t.Errorf("a watch that asked for no bookmarks: %s", a.Body)
	}
	for _, query := range []string{"&allowWatchBookmarks=true", ""} {
		w = s.watch(t, configMaps+"?timeoutSeconds=1&resourceVersion="+textConventions(elsewhere)+query)
		ended(t, w)
	}
	w = s.watch(t, configMaps+"?allowWatchBookmarks=true&resourceVersion="+textConventions(elsewhere))
	for i := range 3 { // the next event has a version newer than any bookmark
		promised := nextConventions(t, w, "BOOKMARK").Object.Version()
		s.create(t, configMaps, fmt.Sprint("next", i), nil)
		e, err := w.Next()
		for ; err == nil && e.Type == client.Bookmark; e, err = w.Next() {
			promised = e.Object.Version()
		}
		if err != nil || e.Object.Version() <= promised {
			t.Errorf("%v, %v, after a bookmark at %d", e.Object, err, promised)
		}
	}
}

// TestWatchLife checks that a watch ends cleanly after the requested timeout. Without a requested
// timeout, the server's timeout applies.
func TestWatchLife(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, func(c *daemon.Config) { c.Serving.MinRequestTimeout = 1 })
	start := textConventions(s.create(t, configMaps, "a", nil))
	for i, query := range []string{"", "&timeoutSeconds=0", "&timeoutSeconds=1", "&timeout=x"} {
		made := s.create(t, configMaps, fmt.Sprint("x", i), nil)
		client.Eventually(t, func() error {
			w := s.watch(t, configMaps+"?resourceVersion="+start+query)
			defer w.Close()
			for {
				e, err := w.Next()
				if errors.Is(err, io.EOF) {
					return fmt.Errorf("%q: ended before its event", query) // on a busy machine
				}
				if err != nil {
					t.Fatalf("%q: %v", query, err)
				}
				if e.Object.Version() == made {
					ended(t, w)
					return nil
				}
			}
		})
	}
}
