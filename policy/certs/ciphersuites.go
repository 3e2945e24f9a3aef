package certs

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// tlsVersions lists the allowed minimum TLS versions. Versions before 1.2 are insecure.
var tlsVersions = []struct {
	name string
	id   uint16
}{{"VersionTLS12", tls.VersionTLS12}, {"VersionTLS13", tls.VersionTLS13}}

// ParseTLSVersion parses a version such as "VersionTLS12". The error lists the valid ones.
func ParseTLSVersion(name string) (uint16, error) {
	var names []string
	for _, v := range tlsVersions {
		if v.name == name {
			return v.id, nil
		}
		names = append(names, v.name)
	}
	return 0, fmt.Errorf("%q: must be one of %s", name, strings.Join(names, ", "))
}

var legacySuiteNames = map[string]uint16{
	"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305":   tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
}

// ParseCipherSuites parses Go or IANA names of cipher suites. It also returns the names of insecure
// suites. It returns nil, which means Go's default, for an empty list. TLS 1.3 suites are accepted
// but have no effect, because they are not configurable in Go. The error lists all unknown names.
func ParseCipherSuites(names []string) (ids []uint16, insecure []string, err error) {
	known := map[string]uint16{}
	var all []string
	for _, s := range tls.CipherSuites() {
		known[s.Name] = s.ID
		all = append(all, s.Name)
	}
	weak := map[string]bool{}
	for _, s := range tls.InsecureCipherSuites() {
		known[s.Name], weak[s.Name] = s.ID, true
	}
	var unknown []string
	for _, name := range names {
		id, ok := known[name]
		if !ok {
			id, ok = legacySuiteNames[name]
		}
		if !ok {
			unknown = append(unknown, fmt.Sprintf("%q", name))
			continue
		}
		ids = append(ids, id)
		if weak[name] {
			insecure = append(insecure, name)
		}
	}
	if len(unknown) > 0 {
		return nil, nil, fmt.Errorf("unknown: %s; supported: %s", strings.Join(unknown, ", "), strings.Join(all, ", "))
	}
	return ids, insecure, nil
}

// ParseCurves parses IDs of key exchanges. It returns nil, which means Go's default, for an empty
// list.
func ParseCurves(texts []string) (ids []tls.CurveID, err error) {
	for _, text := range texts {
		n, err := strconv.ParseUint(text, 10, 16)
		id := tls.CurveID(n)
		if err != nil || strings.HasPrefix(id.String(), "CurveID(") || slices.Contains(ids, id) {
			return nil, fmt.Errorf("%q: must be a different ID that Go supports, such as %d for %[2]v", text, tls.X25519)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
