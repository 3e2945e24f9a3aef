package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// initialEnd is the annotation of the bookmark that closes initial events.
const initialEnd = "platform.io/initial-events-end"

// watch starts a watch; query is as after the question mark, with its watch=1 if any.
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

// brief is an event in one word: ADDED/name, BOOKMARK, BOOKMARK! for the one that closes
// initial events, ERROR/code.
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

// nextConventions reads as many events as want has words, and compares. Bookmarks that want does
// not hold are passed over.
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

// ended wants the watch to end cleanly, with bookmarks at most before.
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

// TestWatchTable: the table of watch, and what the parameters for initial events add to it.
// The collection holds a and b; c comes after the start.
func TestWatchTable(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	first := textConventions(s.create(t, configMaps, "a", nil))
	newest := textConventions(s.create(t, configMaps, "b", nil))
	const initial, closed = "ADDED/a ADDED/b", "ADDED/a ADDED/b BOOKMARK!"
	const stream = "&resourceVersionMatch=NotOlderThan&sendInitialEvents="
	var running []*client.Watch
	for _, c := range []struct{ query, before string }{
		{"", initial},
		{"&resourceVersion=", initial},
		{"&resourceVersion=0", initial},
		{"&resourceVersion=" + first, "ADDED/b"},
		{"&resourceVersion=" + newest, ""},
		{"&allowWatchBookmarks=true", closed},
		{"&allowWatchBookmarks=true&resourceVersion=0", closed},
		{"&allowWatchBookmarks=true&resourceVersion=" + first, "ADDED/b"},
		{stream + "true", initial},
		{stream + "true&resourceVersion=0", initial},
		{stream + "true&resourceVersion=" + first, initial},
		{stream + "true&allowWatchBookmarks=true", closed},
		{stream + "true&allowWatchBookmarks=true&resourceVersion=0", closed},
		{stream + "true&allowWatchBookmarks=true&resourceVersion=" + newest, closed},
		{stream + "true&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dnone", "BOOKMARK!"},
		{stream + "false", ""},
		{stream + "false&resourceVersion=0", ""},
		{stream + "false&resourceVersion=" + first, "ADDED/b"},
		{stream + "false&allowWatchBookmarks=true&resourceVersion=" + newest, ""},
	} {
		t.Run(c.query, func(t *testing.T) {
			state := s.version(t)
			if strings.Contains(c.query, "resourceVersion=0") && client.Daemons(t) > 1 {
				state = 0 // another daemon may be asked, which knows less
			}
			w := s.watch(s.t, configMaps+"?watch=1"+c.query)
			last := nextConventions(t, w, c.before)
			if brief(last) == "BOOKMARK!" && last.Object.Version() < state {
				t.Errorf("the closing bookmark is at %d, the state at %d", last.Object.Version(), state)
			}
			if !strings.Contains(c.query, "none") {
				running = append(running, w)
			}
		})
	}
	made := s.create(t, configMaps, "c", nil)
	s.send(t, 200, http.MethodDelete, configMaps+"/c", "", nil)
	gone := s.version(t)
	for _, w := range running {
		if e := nextConventions(t, w, "ADDED/c"); e.Object.Version() != made {
			t.Errorf("made at %d, not %d", e.Object.Version(), made)
		}
		if v := nextConventions(t, w, "DELETED/c").Object.Version(); v <= made || v > gone || v != gone && !client.OnEtcd() { // others write, too
			t.Errorf("deleted at %d, not %d", v, gone)
		}
	}
}

// version is the newest version of the ConfigMaps.
func (s *testServer) version(t testing.TB) uint64 {
	t.Helper()
	return listOf(t, s.get(t, 200, configMaps+"?limit=1")).version()
}

// TestWatchParameters: parameters that are wrong, or do not go together, are known
// beforehand and are plain answers.
func TestWatchParameters(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	const (
		needsMatch = "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
		needsSend  = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
		onlyMatch  = `resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"`
	)
	for query, want := range map[string][]string{
		"sendInitialEvents=true":                                              {needsMatch},
		"sendInitialEvents=false&resourceVersion=1":                           {needsMatch},
		"sendInitialEvents=true&resourceVersionMatch=Exact":                   {needsMatch, onlyMatch},
		"resourceVersionMatch=NotOlderThan":                                   {needsSend},
		"resourceVersionMatch=Exact&resourceVersion=1":                        {needsSend, onlyMatch},
		"resourceVersionMatch=NotOlderThan&sendInitialEvents=true&continue=x": {withToken},
		"continue=x":                   {withToken},
		"continue=x&resourceVersion=0": {withToken},
		"resourceVersionMatch=Exact&resourceVersion=1&continue=x&limit=4&pretty=1": {needsSend, onlyMatch, withToken},
	} {
		t.Run(query, func(t *testing.T) {
			fields := strings.Join(want, ", ")
			if len(want) > 1 {
				fields = "[" + fields + "]"
			}
			wantFault(t, s.get(t, 0, configMaps+"?watch=1&"+query), 422, "Invalid", "ListOptions."+metaName+` "" is invalid: `+fields)
		})
	}
	start := textConventions(s.version(t))
	for _, query := range []string{"timeoutSeconds=-5", "timeoutSeconds=1&continue=x"} { // the first ends at once
		if a := s.get(t, 200, configMaps+"?watch=1&resourceVersion="+start+"&"+query); len(a.Body) != 0 {
			t.Errorf("%s: %s", query, a.Body)
		}
	}
	for query, want := range map[string]string{
		"?watch=1&timeoutSeconds=x":                  `strconv.ParseInt: parsing "x": invalid syntax`,
		"?watch=1&resourceVersion=x":                 `invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax`,
		"?watch=1&labelSelector=%3D":                 "found '=', expected: !, identifier, or 'end of string'",
		"/a?watch=1&fieldSelector=metadata.name%3Db": "fieldSelector metadata.name doesn't match requested name",
	} {
		wantFault(t, s.get(t, 0, configMaps+query), 400, "BadRequest", want)
	}
}

// TestWatchPaths: one object by its path or a field selector, and the old prefix in all its shapes.
func TestWatchPaths(t *testing.T) {
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	s.create(t, configMaps, "b", nil)
	s.send(t, 201, http.MethodPost, "/apis/scheduling.platform.io/v1/priorityclasses", client.JSON,
		`{"kind":"PriorityClass","apiVersion":"scheduling.platform.io/v1","metadata":{"name":"p"},"value":1}`)
	for path, want := range map[string]string{
		configMaps + "?watch=true":                                            "ADDED/a ADDED/b",
		configMaps + "?watch":                                                 "ADDED/a ADDED/b",
		configMaps + "/b?watch=1":                                             "ADDED/b",
		configMaps + "/none?watch=1":                                          "",
		configMaps + "/b?watch=1&fieldSelector=metadata.name%3Db":             "ADDED/b",
		configMaps + "?watch=1&fieldSelector=metadata.name%3Db":               "ADDED/b",
		"/api/v1/configmaps?watch=1&fieldSelector=metadata.namespace%3Dnone":  "",
		"/api/v1/watch/configmaps?fieldSelector=metadata.namespace%3Ddefault": "ADDED/a ADDED/b",
		"/api/v1/watch/namespaces/default/configmaps":                         "ADDED/a ADDED/b",
		"/api/v1/watch/namespaces/default/configmaps/a":                       "ADDED/a",
		"/api/v1/watch/namespaces/default/configmaps/a?watch=false":           "ADDED/a",
		"/api/v1/watch/namespaces/default":                                    "ADDED/default",
		"/api/v1/watch/namespaces?fieldSelector=metadata.name%3Ddefault":      "ADDED/default",
		"/apis/scheduling.platform.io/v1/watch/priorityclasses/p":             "ADDED/p",
		"/apis/scheduling.platform.io/v1/priorityclasses/p?watch=1":           "ADDED/p",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			at, query, _ := strings.Cut(path, "?")
			values, err := url.ParseQuery(query)
			if err != nil {
				t.Fatal(err)
			}
			values.Set("timeoutSeconds", "1")
			var a client.Answer
			client.Eventually(t, func() error { // on a busy machine the second may be over before anything is written
				if a = s.get(t, 200, at+"?"+values.Encode()); want != "" && len(a.Body) == 0 {
					return errors.New("the watch ended without an event")
				}
				return nil
			})
			var got []string
			for line := range strings.Lines(string(a.Body)) {
				got = append(got, brief(parseEvent(t, line)))
			}
			if text := strings.Join(got, " "); text != want || a.Header.Get("Content-Type") != client.JSON {
				t.Errorf("%q in %s, want %q", text, a.Header.Get("Content-Type"), want)
			}
		})
	}
	for _, c := range []struct {
		code         int
		method, path string
	}{
		{405, http.MethodDelete, "/api/v1/watch/namespaces/default/configmaps/a"},
		{405, http.MethodPut, "/api/v1/watch/namespaces/default/configmaps/a"},
		{405, http.MethodPost, "/api/v1/watch/namespaces/default/configmaps"},
		{404, http.MethodGet, "/api/v1/watch/namespaces/default/pods/p/status"},
		{404, http.MethodGet, "/api/v1/watch/gizmos"},
		{404, http.MethodGet, "/api/v1/watch/namespaces/default/configmaps/a/b/c"},
	} {
		s.send(t, c.code, c.method, c.path, client.JSON, "{}")
	}
	s.get(t, 200, configMaps+"/a")
}

// TestWatchWarns: a watch of a deprecated version says so, like any request.
func TestWatchWarns(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const path = "/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers"
	want := warnings(t, s.get(t, 200, path))
	got := warnings(t, s.get(t, 200, path+"?watch=1&timeoutSeconds=1"))
	if len(want) != 1 || !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTransitions: entering a selector is ADDED, leaving it DELETED, with the version of
// the change.
func TestTransitions(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	start := s.create(t, configMaps, "a", map[string]string{"g": "1"})
	w := s.watch(t, configMaps+"?labelSelector=g%3D1&resourceVersion="+textConventions(start))
	not := s.watch(t, configMaps+"?labelSelector=g!%3D1&resourceVersion="+textConventions(start))
	for _, step := range []struct{ patch, in, out string }{
		{`{"data":{"x":"1"}}`, "MODIFIED/a", ""},
		{`{"metadata":{"labels":{"g":"2"}}}`, "DELETED/a", "ADDED/a"},
		{`{"data":{"x":"2"}}`, "", "MODIFIED/a"},
		{`{"metadata":{"labels":{"g":"1"}}}`, "ADDED/a", "DELETED/a"},
		{`{"metadata":{"labels":null}}`, "DELETED/a", "ADDED/a"},
	} {
		version := s.send(t, 200, http.MethodPatch, configMaps+"/a", client.MergePatch, step.patch).Object().Version()
		if e := nextConventions(t, w, step.in); step.in != "" && e.Object.Version() != version {
			t.Errorf("%s at %d, not %d", step.in, e.Object.Version(), version)
		}
		if e := nextConventions(t, not, step.out); step.out != "" && e.Object.Version() != version {
			t.Errorf("%s at %d, not %d", step.out, e.Object.Version(), version)
		}
	}
	last := s.send(t, 200, http.MethodDelete, configMaps+"/a", "", nil)
	if e := nextConventions(t, not, "DELETED/a"); e.Object.Data("x") != "2" || last.Code != 200 {
		t.Errorf("the last state is %v", e.Object)
	}
}

// TestBookmarks: they hold nothing but kind, version and resource version, go no further
// back than what was delivered, and come only where they are asked for.
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
	for i := range 3 { // what comes next has a version that no bookmark has promised
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

// TestWatchLife: a watch ends cleanly after the time that it asks for, and else after that
// of the server.
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
