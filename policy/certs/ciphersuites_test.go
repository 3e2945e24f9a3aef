package certs_test

import (
	"crypto/tls"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/policy/certs"
)

func TestCipherSuitesAndVersions(t *testing.T) {
	ids, insecure, err := certs.ParseCipherSuites([]string{"TLS_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"})
	if err != nil || len(ids) != 3 || strings.Join(insecure, " ") != "TLS_RSA_WITH_AES_128_CBC_SHA" {
		t.Errorf("%v %v %v", ids, insecure, err)
	}
	if ids, _, err := certs.ParseCipherSuites(nil); ids != nil || err != nil {
		t.Errorf("none: %v %v", ids, err)
	}
	if _, _, err := certs.ParseCipherSuites([]string{"x", "TLS_AES_128_GCM_SHA256", "y"}); err == nil ||
		!strings.HasPrefix(err.Error(), `unknown: "x", "y"; supported: TLS_`) {
		t.Errorf("unknown ones: %v", err)
	}
	for text, want := range map[string][]tls.CurveID{
		"": nil, "4588,29": {tls.X25519MLKEM768, tls.X25519}, "29,29": nil, "0": nil, "65536": nil, "-1": nil, "X25519": nil, "1": nil,
	} {
		texts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
		if ids, err := certs.ParseCurves(texts); !slices.Equal(ids, want) || (err == nil) != (want != nil || text == "") {
			t.Errorf("%q: %v %v", text, ids, err)
		}
	}
	for name, want := range map[string]uint16{"VersionTLS12": tls.VersionTLS12, "VersionTLS13": tls.VersionTLS13, "VersionTLS11": 0, "": 0} {
		if got, err := certs.ParseTLSVersion(name); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d %v", name, got, err)
		}
	}
}
