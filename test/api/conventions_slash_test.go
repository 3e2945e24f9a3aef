package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// TestServerAddress checks that /api returns the server's advertised address.
func TestServerAddress(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, func(c *daemon.Config) { c.Serving.AdvertiseAddress = "192.0.2.7" })
	s.Server = s.First(t)
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	want := fmt.Sprint([]any{map[string]any{"clientCIDR": "0.0.0.0/0", "serverAddress": "192.0.2.7" + port}})
	if got := fmt.Sprint(s.get(t, 200, "/api").Object()["serverAddressByClientCIDRs"]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestProfiles checks that the pprof index page lists the profiles, and that each is served.
func TestProfiles(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	page := string(s.send(t, 200, http.MethodGet, "/debug/pprof/", "", nil).Body)
	for _, name := range []string{"goroutine", "heap", "profile", "cmdline"} {
		if !strings.Contains(page, name) {
			t.Errorf("the page does not list %s: %.300s", name, page)
		}
	}
	s.send(t, 301, http.MethodGet, "/debug/pprof", "", nil) // redirects to the index
	s.send(t, 200, http.MethodGet, "/debug/pprof/goroutine?debug=1", "", nil)
	s.send(t, 404, http.MethodGet, "/debug/pprof/heap/", "", nil)
}
