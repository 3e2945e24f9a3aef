package certs

import (
	"crypto/tls"
	"net"
	"strings"
	"sync/atomic"
)

// SNICertificates selects the serving certificate by the server name in the ClientHello (SNI).
// Without SNI, it uses the connection's local address.
type SNICertificates struct {
	fallback func() *tls.Certificate
	pairs    []*FilePair
	byName   atomic.Pointer[map[string]*tls.Certificate]
}

// NewSNICertificates returns SNICertificates that serve each pair for its names, and call otherwise
// for all other names. If several pairs match, configured names take precedence over names in
// certificates, and earlier pairs over later ones. Exact names take precedence over *.domain.
func NewSNICertificates(otherwise func() *tls.Certificate, pairs ...*FilePair) *SNICertificates {
	s := &SNICertificates{fallback: otherwise, pairs: pairs}
	s.index()
	return s
}

func (s *SNICertificates) index() {
	byName := map[string]*tls.Certificate{}
	add := func(p *FilePair, names []string) {
		for _, name := range names {
			if name = canonicalName(name); byName[name] == nil {
				byName[name] = p.Certificate()
			}
		}
	}
	for _, p := range s.pairs {
		add(p, p.names)
	}
	for _, p := range s.pairs {
		if len(p.names) == 0 {
			add(p, p.certificateNames())
		}
	}
	s.byName.Store(&byName)
}

func canonicalName(name string) string {
	if ip := net.ParseIP(name); ip != nil {
		return ip.String()
	}
	return strings.TrimSuffix(strings.ToLower(name), ".")
}

// GetCertificate returns the certificate for a ClientHello.
func (s *SNICertificates) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	byName := *s.byName.Load()
	name := hello.ServerName
	if name == "" && hello.Conn != nil && len(byName) > 0 {
		name, _, _ = net.SplitHostPort(hello.Conn.LocalAddr().String())
	}
	name = canonicalName(name)
	if c := byName[name]; c != nil {
		return c, nil
	}
	if _, domain, ok := strings.Cut(name, "."); ok {
		if c := byName["*."+domain]; c != nil {
			return c, nil
		}
	}
	return s.fallback(), nil
}

// Refresh reloads the pairs and reports whether any has changed. A pair that cannot be loaded stays
// unchanged. Refresh returns the first error.
func (s *SNICertificates) Refresh() (changed bool, err error) {
	for _, p := range s.pairs {
		one, fault := p.Refresh()
		changed = changed || one
		if err == nil {
			err = fault
		}
	}
	if changed {
		s.index()
	}
	return changed, err
}
