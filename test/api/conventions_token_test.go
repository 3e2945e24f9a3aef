package api

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestForgedTokens checks that a forged continue token does not give access to another namespace.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.send(t, 201, http.MethodPost, "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"other"}}`)
	for _, name := range []string{"a", "b", "c"} {
		s.create(t, configMaps, name, nil)
		s.create(t, "/api/v1/namespaces/other/configmaps", name, nil)
	}
	token := listOf(t, s.get(t, 200, configMaps+"?limit=1")).Metadata.Continue
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	forge := func(old, new string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(strings.ReplaceAll(string(plain), old, new)))
	}
	for _, forged := range []string{forge("default/", "other/"), forge("default/b", "/"), forge("default/b", "default"), forge("default/b", "default0")} {
		a := s.get(t, 0, configMaps+"?continue="+forged)
		if a.Code == 200 {
			for _, o := range listOf(t, a).Items {
				if !strings.HasPrefix(o.Key(), "default/") {
					t.Errorf("a forged token reads %s", o.Key())
				}
			}
		} else if a.Code != 400 {
			t.Errorf("a forged token: %v", a)
		}
	}
}

// TestExpiry checks that exact resourceVersions, continue tokens and watches expire with the
// history. Requests fail with 410, and watches get an ERROR event with code 410. The error for a
// continue token contains a new token for the current version.
func TestExpiry(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, func(c *daemon.Config) {
		c.Watches.HistoryBytes, c.Watches.HistoryTime = 64<<10, daemon.Duration(time.Second)
		c.Watches.BookmarkPeriod = daemon.Duration(5 * time.Second / 2)
	})
	first := s.create(t, configMaps, "a", nil)
	s.create(t, configMaps, "b", nil)
	s.create(t, configMaps, "c", nil)
	token := listOf(t, s.get(t, 200, configMaps+"?limit=1")).Metadata.Continue
	s.send(t, 200, http.MethodDelete, configMaps+"/b", "", nil)
	expired := func(path string) client.Answer {
		for i := 0; ; i++ { // the history is trimmed by whole chunks
			if a := s.get(t, 0, path); a.Code != 200 || i > 2000 {
				return a
			}
			s.send(t, 200, http.MethodPatch, configMaps+"/c", client.MergePatch, fmt.Sprintf(`{"data":{"n":"%d"}}`, i))
		}
	}
	const tooOld = "too old resource version: "
	if a := expired(configMaps + "?limit=1&resourceVersion=" + textConventions(first)); a.Code != 410 || statusOf(t, a).Reason != "Expired" || !strings.HasPrefix(statusOf(t, a).Message, tooOld+textConventions(first)) {
		t.Errorf("a list: %v", a)
	}
	// Retry, because another server's history may still contain the version.
	for i := 0; ; i++ {
		w := s.watch(t, configMaps+"?watch=1&resourceVersion="+textConventions(first))
		e, err := w.Next()
		w.Close()
		if e.Type != client.Error && err == nil && i < 2000 {
			s.send(t, 200, http.MethodPatch, configMaps+"/c", client.MergePatch, fmt.Sprintf(`{"data":{"n":"w%d"}}`, i))
			continue
		}
		if message, _ := e.Object["message"].(string); brief(e) != "ERROR/410" || e.Object["reason"] != "Expired" || !strings.HasPrefix(message, tooOld+textConventions(first)) {
			t.Errorf("watch: %v, %v", e, err)
		}
		break
	}
	a := s.get(t, 0, configMaps+"?limit=1&continue="+token)
	marks := s.watch(t, configMaps+"?watch=1&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dnone")
	defer marks.Close()
	// Each use of the continue token keeps its snapshot alive for another history period. Bookmarks
	// are less frequent, so wait for one between uses.
	for i := 0; a.Code == 200 && i < 10; i++ {
		if e, err := marks.Next(); err != nil || e.Type != client.Bookmark {
			t.Fatal(e, err)
		}
		a = s.get(t, 0, configMaps+"?limit=1&continue="+token)
	}
	f := statusOf(t, a)
	if a.Code != 410 || f.Reason != "Expired" || !strings.HasPrefix(f.Message, "The provided continue parameter is too old to display a consistent list result.") || f.Metadata.Continue == "" {
		t.Fatalf("token: %v", a)
	}
	s.create(t, configMaps, "bb", nil)
	for range 2 { // the same at any later time
		client.Eventually(t, func() error {
			l := listOf(t, s.get(t, 200, configMaps+"?limit=1&continue="+f.Metadata.Continue))
			if l.names() != "bb" {
				t.Fatalf("goes on with %q", l.names())
			}
			a := s.get(t, 0, configMaps+"?limit=1&continue="+l.Metadata.Continue)
			if a.Code == 410 {
				return errors.New("the second page came when the window was over") // on a busy machine
			}
			if l = listOf(t, a); l.names() != "c" || l.Metadata.Continue != "" {
				t.Errorf("and then with %q %q", l.names(), l.Metadata.Continue)
			}
			return nil
		})
	}
	if l := listOf(t, s.get(t, 200, configMaps+"?resourceVersion="+textConventions(first))); l.names() != "a bb c" {
		t.Errorf("not older than an expired version: %q", l.names())
	}
}

// TestOverRestart checks that continue tokens, exact resourceVersions and watches survive a
// restart.
func TestOverRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &testServer{client.Serve(t, dir, nil), t}
	for _, name := range []string{"a", "b", "c"} {
		s.create(t, configMaps, name, nil)
	}
	l := listOf(t, s.get(t, 200, configMaps+"?limit=1"))
	s.send(t, 200, http.MethodDelete, configMaps+"/b", "", nil)
	s.send(t, 200, http.MethodPatch, configMaps+"/c", client.MergePatch, `{"metadata":{"labels":{"x":"1"}}}`)
	s.send(t, 200, http.MethodPatch, configMaps+"/c", client.MergePatch, `{"data":{"x":"1"}}`)
	newest := s.version(t)
	s.Stop(t)
	s = &testServer{client.Serve(t, dir, nil), t}
	if got := s.version(t); got < newest {
		t.Errorf("the newest version is %d, and was %d", got, newest)
	}
	w := s.watch(t, configMaps+"?resourceVersion="+l.Metadata.ResourceVersion)
	nextConventions(t, w, "DELETED/b MODIFIED/c MODIFIED/c")
	for _, path := range []string{configMaps + "?continue=" + l.Metadata.Continue, configMaps + "?resourceVersionMatch=Exact&resourceVersion=" + l.Metadata.ResourceVersion} {
		a := s.get(t, 0, path)
		if a.Code == 410 { // legitimate: the restored history lacks some states
			t.Logf("%s: %v", path, a)
			continue
		}
		if got := listOf(t, a); got.Metadata.ResourceVersion != l.Metadata.ResourceVersion || !strings.HasSuffix(got.names(), "b c") || got.Items[len(got.Items)-1].Label("x") != "" {
			t.Errorf("%s: %v", path, a)
		}
	}
}
