package http_test

import (
	"testing"

	"github.com/troupe-api/troupe/http/internal/credentials"
)

// TestRedact tests that only tokens are removed from URLs, regardless of the spelling and
// escaping of the parameter name.
func TestRedact(t *testing.T) {
	for target, want := range map[string]string{
		"/a":                            "/a",
		"/a?b=c":                        "/a?b=c",
		"/a?access_token=s&b=c":         "/a?access_token=REDACTED&b=c",
		"/a?b=c;Access%5FToken=s":       "/a?b=c;Access%5FToken=REDACTED",
		"/a?%zz=s":                      "/a?%zz=REDACTED",
		"/token?limit=5&timeout=1s":     "/token?limit=5&timeout=1s",
		"/a?token&continue=abc&token=s": "/a?token&continue=abc&token=REDACTED",
	} {
		if got := credentials.Redact(target); got != want {
			t.Errorf("%s: %s", target, got)
		}
	}
}

func TestScheme(t *testing.T) {
	for header, want := range map[string]string{"": "", "Bearer x": credentials.SchemeBearer, "BASIC x": credentials.SchemeBasic, "Digest x": "", "bearer": credentials.SchemeBearer} {
		if got := credentials.Scheme([]byte(header)); got != want {
			t.Errorf("%q: %q", header, got)
		}
	}
}
