package api_test

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestSecretWarnings(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Secret")
	for secret, want := range map[string][]string{
		`{"type":"platform.io/tls","data":{"tls.crt":"YQ==","tls.key":"YQ=="}}`: {"tls: failed to find any PEM data in certificate input"},
		`{"type":"Opaque","data":{"tls.crt":"YQ==","tls.key":"YQ=="}}`:          nil,
	} {
		if got := k.Strategy.Warnings(Parse(t, secret), nil); !slices.Equal(got, want) {
			t.Errorf("%s: %q", secret, got)
		}
	}
}
