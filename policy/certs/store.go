package certs

import (
	"cmp"
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
	caLifetime   = 10 * 365 * 24 * time.Hour
	leafLifetime = 365 * 24 * time.Hour
	renewBefore  = 30 * 24 * time.Hour
	clockSkew    = 5 * time.Minute
)

// AdminName is the user name in the administrator's certificate, in the form of the platform profile.
const AdminName = "platform-admin"

// ProxyClientName is the common name in the certificate with which the daemon vouches for users.
const ProxyClientName = "front-proxy-client"

// KubeletClientName is the user name in the certificate that the daemon presents to kubelets, in the form of the platform
// profile. The prefix keeps other authenticators from claiming it.
const KubeletClientName = "system:apiserver-node-client"

// A Store keeps the daemon's certificates in a directory, or in memory.
type Store struct {
	// Dir is the directory; "" keeps the certificates in the memory of the Manager that Open returns.
	Dir string
	// Admin is the administrator's user name; "" means AdminName.
	Admin string
	// KubeletClient is the user name of the daemon at kubelets; "" means KubeletClientName.
	KubeletClient string
	// Now tells the time; nil means time.Now.
	Now func() time.Time

	memory map[string]*Pair // in place of files
}

// A Set is what Ensure found or made.
type Set struct {
	CA, Server, Admin *Pair
	// KubeletClient is what the daemon presents to kubelets.
	KubeletClient *Pair
	// ProxyCA is the CA of ProxyClient, with which the daemon proves to servers that extend the API that it may
	// vouch for users. It signs nothing else.
	ProxyCA, ProxyClient *Pair
	// unsaved are the pairs, by name, that are in use but not yet in their files.
	unsaved map[string]*Pair
}

// Ensure returns the certificates of the store. It makes what is missing, what expires
// soon and what names asks for in vain; the CA only if it is missing or the administrator
// asks for a new one. Names are the host names and IP addresses that clients may use to
// reach the server.
func (s Store) Ensure(names []string) (Set, error) {
	if s.Dir != "" {
		if err := os.MkdirAll(s.Dir, 0o700); err != nil {
			return Set{}, err
		}
	}
	var set Set
	var err error
	if err = s.cas(&set); err != nil {
		return Set{}, err
	}
	if set.Server, err = set.trackUnsaved("server")(s.server(set.CA, names)); err != nil {
		return Set{}, err
	}
	admin := client{"admin", cmp.Or(s.Admin, AdminName), []string{authn.GroupMasters}}
	if set.Admin, err = set.trackUnsaved(admin.file)(s.client(set.CA, admin)); err != nil {
		return Set{}, err
	}
	kubelet := client{"apiserver-kubelet-client", cmp.Or(s.KubeletClient, KubeletClientName), nil}
	if set.KubeletClient, err = set.trackUnsaved(kubelet.file)(s.client(set.CA, kubelet)); err != nil {
		return Set{}, err
	}
	proxy := client{"front-proxy-client", ProxyClientName, nil}
	if set.ProxyClient, err = set.trackUnsaved(proxy.file)(s.client(set.ProxyCA, proxy)); err != nil {
		return Set{}, err
	}
	return set, nil
}

// trackUnsaved takes a pair that could not be saved for one that has to be saved later.
func (set *Set) trackUnsaved(name string) func(*Pair, error) (*Pair, error) {
	return func(p *Pair, err error) (*Pair, error) {
		if p == nil || err == nil {
			return p, err
		}
		if set.unsaved == nil {
			set.unsaved = map[string]*Pair{}
		}
		set.unsaved[name] = p
		return p, nil
	}
}

// cas loads the CAs, or makes them. Where new ones are asked for, the request goes when both are in their files.
func (s Store) cas(set *Set) (err error) {
	asked := s.renewRequested()
	var proxySaved, saved bool
	if set.ProxyCA, proxySaved, err = s.ca("front-proxy-ca", "troupe-front-proxy-ca", asked); err != nil {
		return err
	}
	if set.CA, saved, err = s.ca("ca", "troupe-ca", asked && proxySaved); err != nil {
		return err
	}
	if asked && proxySaved && saved {
		return os.Remove(s.renewRequestPath())
	}
	return nil
}

// ca is one CA, and whether that is what is in its file now. It never gives way to another one by itself: a clock that
// is wrong would take the trust of every client with it.
func (s Store) ca(file, name string, renew bool) (ca *Pair, saved bool, err error) {
	old, err := s.load(file)
	if err != nil || old != nil && !renew {
		return old, true, err
	}
	now := s.now()
	ca, err = issue(&x509.Certificate{
		Subject:               pkix.Name{CommonName: fmt.Sprintf("%s@%d", name, now.Unix())},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}, nil, now, caLifetime)
	if err != nil {
		return nil, false, fmt.Errorf("making the certificate %q: %w", file, err)
	}
	if old != nil {
		ca.CertPEM = append(ca.CertPEM, old.unexpired(now)...)
	}
	if err = s.save(file, ca); err != nil && old != nil {
		return old, false, nil // the next renewal tries again
	}
	return ca, true, err
}

// renewRequestPath is the file by which an administrator asks for a new CA.
func (s Store) renewRequestPath() string { return filepath.Join(s.Dir, "ca.renew") }

func (s Store) renewRequested() bool {
	if s.Dir == "" {
		return false
	}
	_, err := os.Stat(s.renewRequestPath())
	return err == nil
}

// checkCA compares the times of the CA with the clock. If they do not fit, either may be wrong.
func (s Store) checkCA(ca *Pair) error {
	now, from, until := s.now(), ca.Cert.NotBefore, ca.Cert.NotAfter
	switch {
	case s.clockOutsideCA(ca):
		return fmt.Errorf("the clock says %s, but the CA is valid from %s to %s: the certificates stay as they are, and none is believed until the clock is right or, if it is, there is a new CA: to get one, make the file %s",
			now.UTC().Format(time.RFC3339), from.Format(time.RFC3339), until.Format(time.RFC3339), s.renewRequestPath())
	case !now.Add(renewBefore).Before(until):
		return fmt.Errorf("the CA expires at %s: for a new one, make the file %s", until.Format(time.RFC3339), s.renewRequestPath())
	}
	return nil
}

// clockOutsideCA says that the clock and the CA cannot both be right.
func (s Store) clockOutsideCA(ca *Pair) bool {
	now := s.now()
	return now.Before(ca.Cert.NotBefore) || now.After(ca.Cert.NotAfter)
}

func (s Store) server(ca *Pair, names []string) (*Pair, error) {
	good := func(p *Pair) bool { return s.usable(p, ca) && signedBy(p, ca) && covers(p.Cert, names) }
	return s.loadOrIssue("server", good, func(now time.Time) (*Pair, error) {
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
		return issue(template, ca, s.issueTime(ca, now), leafLifetime)
	})
}

// A client is what the certificate of a client says, and the name of its files.
type client struct {
	file, name string
	groups     []string
}

func (s Store) client(ca *Pair, c client) (*Pair, error) {
	good := func(p *Pair) bool {
		return s.usable(p, ca) && signedBy(p, ca) && p.Cert.Subject.CommonName == c.name
	}
	return s.loadOrIssue(c.file, good, func(now time.Time) (*Pair, error) { return s.issueClient(ca, c, now) })
}

// issueClient makes the certificate of a client, and keeps it nowhere.
func (s Store) issueClient(ca *Pair, c client, now time.Time) (*Pair, error) {
	return issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: c.name, Organization: c.groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, s.issueTime(ca, now), leafLifetime)
}

// loadOrIssue loads the pair of that name and returns it if it is good; else it makes and saves
// a new one in the place of the old one, if there is one. A pair beside an error is of use,
// but not saved.
func (s Store) loadOrIssue(name string, good func(*Pair) bool, make func(now time.Time) (*Pair, error)) (*Pair, error) {
	pair, err := s.load(name)
	if err != nil {
		return nil, err
	}
	if pair != nil && good(pair) {
		return pair, nil
	}
	if pair, err = make(s.now()); err != nil {
		return nil, fmt.Errorf("making the certificate %q: %w", name, err)
	}
	return pair, s.save(name, pair)
}

// load returns nil where the pair does not exist. A key without a certificate is what a
// crash between the two leaves behind, and counts as none.
func (s Store) load(name string) (*Pair, error) {
	if s.Dir == "" {
		return s.memory[name], nil
	}
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

// save writes both files before it touches the old ones, and takes the old certificate away
// first: a full disk leaves what was there, a crash a pair that matches or none.
func (s Store) save(name string, p *Pair) error {
	if s.Dir == "" {
		if s.memory != nil { // nil without a Manager: there is nobody who would ask again
			s.memory[name] = p
		}
		return nil
	}
	cert, key := s.files(name)
	newKey, err := writeTempFile(key, p.KeyPEM)
	if err != nil {
		return err
	}
	newCert, err := writeTempFile(cert, p.CertPEM)
	if err != nil {
		return errors.Join(err, os.Remove(newKey))
	}
	if err := os.Remove(cert); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.Remove(newKey), os.Remove(newCert))
	}
	if err := replaceFile(newKey, key); err != nil {
		return err
	}
	return replaceFile(newCert, cert)
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

// usable says that a pair need not be made anew, as far as the clock is to be believed.
func (s Store) usable(p, ca *Pair) bool {
	now := s.now()
	return s.clockOutsideCA(ca) || !now.Before(p.Cert.NotBefore) && now.Add(renewBefore).Before(p.Cert.NotAfter)
}

// issueTime is the time to issue a certificate at: now, or if that cannot be, soon after the CA.
func (s Store) issueTime(ca *Pair, now time.Time) time.Time {
	if s.clockOutsideCA(ca) {
		return ca.Cert.NotBefore.Add(clockSkew)
	}
	return now
}

func signedBy(p, ca *Pair) bool { return p.Cert.CheckSignatureFrom(ca.Cert) == nil }

func covers(cert *x509.Certificate, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return cert.VerifyHostname(name) != nil })
}
