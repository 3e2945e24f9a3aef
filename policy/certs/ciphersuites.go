package certs

import (
	"crypto/tls"
	"fmt"
	"strings"
)

// tlsVersions are the least versions of TLS that can be asked for. Those before 1.2 are broken.
var tlsVersions = []struct {
	name string
	id   uint16
}{{"VersionTLS12", tls.VersionTLS12}, {"VersionTLS13", tls.VersionTLS13}}

// ParseTLSVersion reads a version such as "VersionTLS12"; an error lists those that there are.
func ParseTLSVersion(name string) (uint16, error) {
	var names []string
	for _, v := range tlsVersions {
		if v.name == name {
			return v.id, nil
		}
		names = append(names, v.name)
	}
	return 0, fmt.Errorf("%q is none of %s", name, strings.Join(names, ", "))
}

// legacySuiteNames are suites by the names that they had before.
var legacySuiteNames = map[string]uint16{
	"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305":   tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
}

// ParseCipherSuites reads names of cipher suites, as Go and IANA have them. It also returns those
// of them that are insecure. No names at all means nil, Go's own choice. An error names
// every unknown suite and lists those that there are. TLS 1.3 has suites of its own, which
// cannot be chosen: to name them changes nothing.
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
		return nil, nil, fmt.Errorf("unknown: %s; there are %s", strings.Join(unknown, ", "), strings.Join(all, ", "))
	}
	return ids, insecure, nil
}
