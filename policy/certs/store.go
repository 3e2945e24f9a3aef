package certs

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/troupe-api/troupe/policy/authn"
)

// How long certificates live, and when they are made anew.
const (
	lifeOfCA    = 10 * 365 * 24 * time.Hour
	lifeOfLeaf  = 365 * 24 * time.Hour
	renewBefore = 30 * 24 * time.Hour
	clockSkew   = 5 * time.Minute
)

// AdminName is the user name in the administrator's certificate.
const AdminName = "platform-admin"

// A Store keeps the daemon's certificates in a directory.
type Store struct {
	Dir string
	// Now tells the time; nil means time.Now.
	Now func() time.Time
}

// A Set is what Ensure found or made.
type Set struct{ CA, Server, Admin *Pair }

// Ensure returns the certificates of the store. It makes what is missing, what expires
// soon and what names asks for in vain. Names are the host names and IP addresses that
// clients may use to reach the server.
func (s Store) Ensure(names []string) (Set, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return Set{}, err
	}
	var set Set
	var err error
	if set.CA, err = s.ca(); err != nil {
		return Set{}, err
	}
	if set.Server, err = s.server(set.CA, names); err != nil {
		return Set{}, err
	}
	if set.Admin, err = s.admin(set.CA); err != nil {
		return Set{}, err
	}
	return set, nil
}

func (s Store) ca() (*Pair, error) {
	return s.keep("ca", s.fresh, func(now time.Time, old *Pair) (*Pair, error) {
		ca, err := issue(&x509.Certificate{
			Subject:               pkix.Name{CommonName: fmt.Sprintf("troupe-ca@%d", now.Unix())},
			IsCA:                  true,
			BasicConstraintsValid: true,
			KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
		}, nil, now, lifeOfCA)
		if err == nil && old != nil {
			ca.CertPEM = append(ca.CertPEM, old.unexpired(now)...)
		}
		return ca, err
	})
}

func (s Store) server(ca *Pair, names []string) (*Pair, error) {
	good := func(p *Pair) bool { return s.fresh(p) && signedBy(p, ca) && covers(p.Cert, names) }
	return s.keep("server", good, func(now time.Time, _ *Pair) (*Pair, error) {
		template := &x509.Certificate{
			Subject:     pkix.Name{CommonName: "troupe"},
			KeyUsage:    x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		for _, name := range names {
			if ip := net.ParseIP(name); ip != nil {
				template.IPAddresses = append(template.IPAddresses, ip)
			} else {
				template.DNSNames = append(template.DNSNames, name)
			}
		}
		return issue(template, ca, now, lifeOfLeaf)
	})
}

func (s Store) admin(ca *Pair) (*Pair, error) {
	good := func(p *Pair) bool { return s.fresh(p) && signedBy(p, ca) }
	return s.keep("admin", good, func(now time.Time, _ *Pair) (*Pair, error) {
		return issue(&x509.Certificate{
			Subject:     pkix.Name{CommonName: AdminName, Organization: []string{authn.GroupMasters}},
			KeyUsage:    x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}, ca, now, lifeOfLeaf)
	})
}

// keep loads the pair of that name and returns it if it is good; else it makes and saves
// a new one in the place of the old one, if there is one.
func (s Store) keep(name string, good func(*Pair) bool, make func(now time.Time, old *Pair) (*Pair, error)) (*Pair, error) {
	pair, err := s.load(name)
	if err != nil {
		return nil, err
	}
	if pair != nil && good(pair) {
		return pair, nil
	}
	if pair, err = make(s.now(), pair); err != nil {
		return nil, fmt.Errorf("making the certificate %q: %w", name, err)
	}
	return pair, s.save(name, pair)
}

// load returns nil where the pair does not exist. A key without a certificate is what a
// crash between the two leaves behind, and counts as none.
func (s Store) load(name string) (*Pair, error) {
	cert, key := s.files(name)
	certPEM, err := os.ReadFile(cert)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	keyPEM, err := os.ReadFile(key)
	if err != nil {
		return nil, err
	}
	pair, err := parse(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", cert, key, err)
	}
	return pair, nil
}

// save takes the old certificate away first, so that a crash leaves a pair that matches
// or none.
func (s Store) save(name string, p *Pair) error {
	cert, key := s.files(name)
	if err := os.Remove(cert); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := WriteFile(key, p.KeyPEM); err != nil {
		return err
	}
	return WriteFile(cert, p.CertPEM)
}

func (s Store) files(name string) (cert, key string) {
	return filepath.Join(s.Dir, name+".crt"), filepath.Join(s.Dir, name+".key")
}

func (s Store) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

func (s Store) fresh(p *Pair) bool {
	now := s.now()
	return !now.Before(p.Cert.NotBefore) && now.Add(renewBefore).Before(p.Cert.NotAfter)
}

func signedBy(p, ca *Pair) bool { return p.Cert.CheckSignatureFrom(ca.Cert) == nil }

func covers(cert *x509.Certificate, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return cert.VerifyHostname(name) != nil })
}
