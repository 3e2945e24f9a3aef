package certs_test

import (
	"crypto/tls"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/policy/certs"
)

type addrConn struct {
	net.Conn
	address string
}

func (a addrConn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(a.address), Port: 443} }

func TestSNISelection(t *testing.T) {
	load := func(explicit []string, carried ...string) *certs.FilePair {
		cert, key := writePair(t, carried...)
		p, err := certs.LoadFilePair(cert, key, explicit...)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	otherwise := load(nil, "default.example")
	carried := load(nil, "a.example", "*.b.example", "192.0.2.1")
	later := load(nil, "a.example", "x.b.example")
	given := load([]string{"G.example", "*.g.example", "a.b.example", "::1"}, "unused.example")
	s := certs.NewSNICertificates(otherwise.Certificate, carried, later, given)
	for _, test := range []struct {
		name, local string
		want        *certs.FilePair
	}{
		{"", "198.51.100.7", otherwise},
		{"", "192.0.2.1", carried},
		{"", "::1", given},
		{"none.example", "192.0.2.1", otherwise},
		{"a.example", "", carried},
		{"A.Example.", "", carried},
		{"y.b.example", "", carried},
		{"x.b.example", "", later},
		{"a.b.example", "", given},
		{"deep.y.b.example", "", otherwise},
		{"b.example", "", otherwise},
		{"g.example", "", given},
		{"any.g.example", "", given},
		{"unused.example", "", otherwise},
	} {
		got, err := s.GetCertificate(&tls.ClientHelloInfo{ServerName: test.name, Conn: addrConn{address: test.local}})
		if err != nil || got != test.want.Certificate() {
			t.Errorf("%q at %q: %v, %v", test.name, test.local, got.Leaf.DNSNames, err)
		}
	}
}

func TestSNIReload(t *testing.T) {
	cert, key := writePair(t, "a.example")
	newCert, newKey := writePair(t, "b.example")
	p, err := certs.LoadFilePair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	s := certs.NewSNICertificates(func() *tls.Certificate { return nil }, p)
	serves := func(name string) bool {
		c, _ := s.GetCertificate(&tls.ClientHelloInfo{ServerName: name})
		return c != nil
	}
	copyFile(t, cert, newCert)
	if changed, err := s.Refresh(); changed || err == nil || !strings.Contains(err.Error(), cert) || !serves("a.example") {
		t.Errorf("half of a pair: changed %t, error %v", changed, err)
	}
	copyFile(t, key, newKey)
	if changed, err := s.Refresh(); !changed || err != nil || serves("a.example") || !serves("b.example") {
		t.Errorf("a new pair: changed %t, error %v", changed, err)
	}
	if changed, err := s.Refresh(); changed || err != nil {
		t.Errorf("the same again: changed %t, error %v", changed, err)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if changed, err := s.Refresh(); changed || err == nil || !serves("b.example") {
		t.Errorf("no key: changed %t, error %v", changed, err)
	}
}
