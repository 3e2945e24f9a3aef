package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/policy/authz"
)

func TestCoversPath(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/healthz", "/healthz", true},
		{"/healthz", "/healthz/", false},
		{"/healthz", "/healthzz", false},
		{"/healthz/*", "/healthz", false},
		{"/healthz/*", "/healthz/etcd", true},
		{"/healthz*", "/healthzz", true},
		{"*", "/anything", true},
		{"/a/**", "/a/b", true},
		{"/a*b", "/acb", false},
		{"/api/*", "/api/v1/*", true}, // a pattern within a pattern
		{"/api/v1/*", "/api/*", false},
		{"/api/*", "*", false},
	} {
		if got := authz.CoversPath(c.pattern, c.path); got != c.want {
			t.Errorf("%q covers %q: got %t", c.pattern, c.path, got)
		}
	}
}
