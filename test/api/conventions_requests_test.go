package api

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

func (s *testServer) sendWith(t testing.TB, method, path string, headers ...string) client.Answer {
	t.Helper()
	config := s.TLS
	if slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, "Authorization: ") }) {
		config = s.Anonymous()
	}
	return client.Exchange(t, client.Transport(t, config), method, s.URL+path, "", headers...)
}

// TestTooManyWatches checks that watches have a separate limit, and that a rejected watch gets a
// Retry-After header.
func TestTooManyWatches(t *testing.T) {
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	client.WriteFile(t, tokens, "jane-token,jane,u1\n")
	s := serveConventions(t, func(c *daemon.Config) { c.Authentication.TokenAuthFile, c.Serving.MaxWatches = tokens, 4 })
	s.Server = s.First(t)
	jane := func() client.Answer {
		return s.sendWith(t, "GET", configMaps+"?watch=1", "Authorization: Bearer jane-token")
	}
	if a := jane(); a.Code != 403 {
		t.Errorf("jane may not watch at all: %v", a)
	}
	s.create(t, configMaps, "a", nil)
	for range 4 {
		nextConventions(t, s.watch(t, configMaps), "ADDED/a")
	}
	a := jane()
	wantFault(t, a, 429, "TooManyRequests", "the server has received too many requests and has asked us to try again later")
	if a.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	nextConventions(t, s.watch(t, configMaps), "ADDED/a") // a member of system:masters uses the reserve
	if a := s.get(t, 429, configMaps+"?watch=1"); a.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	s.get(t, 200, configMaps)
}
