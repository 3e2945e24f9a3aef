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

// Certificate lifetimes, the renewal window before expiry, and the tolerated clock skew.
const (
	caLifetime   = 10 * 365 * 24 * time.Hour
	leafLifetime = 365 * 24 * time.Hour
	renewBefore  = 30 * 24 * time.Hour
	clockSkew    = 5 * time.Minute
)

// AdminName is the default user name of the administrator in the platform naming profile.
const AdminName = "platform-admin"

// ProxyClientName is the common name of the front proxy client certificate.
const ProxyClientName = "front-proxy-client"

// KubeletClientName is the default user name with which the server authenticates to kubelets, in
// the platform naming profile. It begins with "system:", so that other authenticators cannot assign
// it.
const KubeletClientName = "system:apiserver-node-client"

// A Store keeps the server's own certificates in a directory or in memory.
type Store struct {
	// Dir is the directory. If it is empty, the Manager that Open returns keeps the certificates in
	// memory.
	Dir string
	// Admin is the user name of the administrator. It defaults to AdminName.
	Admin string
	// KubeletClient is the user name with which the server authenticates to kubelets. It defaults
	// to KubeletClientName.
	KubeletClient string
	// Now returns the current time. It defaults to time.Now.
	Now func() time.Time
	// Binding detects that a CA on which stored data depends was lost or replaced. It may be nil.
	Binding *Binding
	// ReplaceForeign makes Ensure reissue certificates that the CA has not signed, for example
	// because the CA is new. Otherwise such certificates are an error.
	ReplaceForeign bool

	memory map[string]*Pair // used instead of files if Dir is empty
}

// A Set contains all certificates of a Store.
type Set struct {
	CA, Server, Admin *Pair
	KubeletClient     *Pair
	// ProxyCA signs only ProxyClient, the front proxy certificate for extension API servers.
	ProxyCA, ProxyClient *Pair
	// unsaved holds the pairs that are in use but could not be saved yet, by name.
	unsaved map[string]*Pair
}

// Ensure returns the certificates of the store. names lists the server's host names and IP
// addresses. Ensure issues certificates that are missing, expire soon, or lack one of names. It
// issues a CA only if the CA is missing or an administrator has requested a new one.
func (s Store) Ensure(names []string) (Set, error) {
	if s.Dir != "" {
		if err := os.MkdirAll(s.Dir, 0o700); err != nil {
			return Set{}, err
		}
	}
	var set Set
	if s.Dir == "" {
		s.Binding = nil // certificates in memory end with the process
	}
	asked := s.renewRequested()
	s.ReplaceForeign = s.ReplaceForeign || asked || s.Binding.acceptsLoss()
	renewed, err := s.cas(&set, asked)
	if err != nil {
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
	// Remove the request last. If the process crashes earlier, the next startup replaces the
	// remaining certificates.
	if renewed {
		return set, os.Remove(s.renewRequestPath())
	}
	return set, nil
}

// trackUnsaved returns a function that records a pair that could not be saved, and drops the error.
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

func (s Store) cas(set *Set, asked bool) (renewed bool, err error) {
	var proxySaved, saved bool
	if set.ProxyCA, proxySaved, err = s.ca("front-proxy-ca", "troupe-front-proxy-ca", asked); err != nil {
		return false, err
	}
	if set.CA, saved, err = s.ca("ca", "troupe-ca", asked && proxySaved); err != nil {
		return false, err
	}
	return asked && proxySaved && saved, nil
}

// ca loads or issues one CA, and reports whether it is saved. It replaces an existing CA only if
// renew is set. Otherwise a wrong clock could replace the CA that all clients trust.
func (s Store) ca(file, name string, renew bool) (ca *Pair, saved bool, err error) {
	certFile, _ := s.files(file)
	old, err := s.load(file)
	if err != nil {
		return nil, false, err
	}
	if err := s.Binding.check(certFile, old.certPEM()); err != nil {
		return nil, false, err
	}
	if old == nil {
		if err := s.checkNoLeaf(file); err != nil {
			return nil, false, err
		}
	}
	if old != nil && !renew {
		s.Binding.adopt(certFile, old.CertPEM)
		return old, true, nil
	}
	now := s.now()
	ca, err = issue(&x509.Certificate{
		Subject:               pkix.Name{CommonName: fmt.Sprintf("%s@%d", name, now.Unix())},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}, nil, now, caLifetime)
	if err != nil {
		return nil, false, fmt.Errorf("create the certificate %q: %w", file, err)
	}
	// After a crash during the replacement, either CA may be on disk, so bind both.
	if old != nil {
		ca.CertPEM = append(ca.CertPEM, old.unexpired(now)...)
		err = s.Binding.bind(certFile, old.CertPEM, ca.CertPEM)
	}
	if err == nil {
		err = s.save(file, ca)
	}
	if err != nil && old != nil {
		return old, false, nil // the next renewal retries
	}
	if err == nil {
		s.Binding.adopt(certFile, ca.CertPEM)
	}
	return ca, true, err
}

func (s Store) renewRequestPath() string { return filepath.Join(s.Dir, "ca.renew") }

func (s Store) renewRequested() bool {
	if s.Dir == "" {
		return false
	}
	_, err := os.Stat(s.renewRequestPath())
	return err == nil
}

func (s Store) checkCA(ca *Pair) error {
	now, from, until := s.now(), ca.Cert.NotBefore, ca.Cert.NotAfter
	switch {
	case s.clockOutsideCA(ca):
		return fmt.Errorf("the clock shows %s, but the CA is valid from %s to %s: the certificates are kept, and rejected until the clock is correct; if it is, create the file %s to get a new CA",
			now.UTC().Format(time.RFC3339), from.Format(time.RFC3339), until.Format(time.RFC3339), s.renewRequestPath())
	case !now.Add(renewBefore).Before(until):
		return fmt.Errorf("the CA expires at %s: create the file %s to get a new one", until.Format(time.RFC3339), s.renewRequestPath())
	}
	return nil
}

func (s Store) clockOutsideCA(ca *Pair) bool {
	now := s.now()
	return now.Before(ca.Cert.NotBefore) || now.After(ca.Cert.NotAfter)
}

func (s Store) server(ca *Pair, names []string) (*Pair, error) {
	good := func(p *Pair) bool { return s.usable(p, ca) && signedBy(p, ca) && covers(p.Cert, names) }
	return s.loadOrIssue("server", ca, good, func(now time.Time) (*Pair, error) {
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

type client struct {
	file, name string
	groups     []string
}

func (s Store) client(ca *Pair, c client) (*Pair, error) {
	good := func(p *Pair) bool {
		return s.usable(p, ca) && signedBy(p, ca) && p.Cert.Subject.CommonName == c.name
	}
	return s.loadOrIssue(c.file, ca, good, func(now time.Time) (*Pair, error) { return s.issueClient(ca, c, now) })
}

func (s Store) issueClient(ca *Pair, c client, now time.Time) (*Pair, error) {
	return issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: c.name, Organization: c.groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, s.issueTime(ca, now), leafLifetime)
}

// loadOrIssue returns the stored pair if good accepts it. Otherwise, it issues and saves a new
// pair. If saving fails, it returns both the pair and the error.
func (s Store) loadOrIssue(name string, ca *Pair, good func(*Pair) bool, make func(now time.Time) (*Pair, error)) (*Pair, error) {
	pair, err := s.load(name)
	if err != nil {
		return nil, err
	}
	if pair != nil && good(pair) {
		return pair, nil
	}
	if !s.ReplaceForeign {
		if err := s.checkIssuer(name, pair, ca); err != nil {
			return nil, err
		}
	}
	if pair, err = make(s.now()); err != nil {
		return nil, fmt.Errorf("create the certificate %q: %w", name, err)
	}
	return pair, s.save(name, pair)
}

// load returns the saved pair. It first completes an interrupted save.
func (s Store) load(name string) (*Pair, error) {
	if s.Dir == "" {
		return s.memory[name], nil
	}
	if err := s.endSave(name); err != nil {
		return nil, err
	}
	return s.read(name)
}

func (s Store) read(name string) (*Pair, error) {
	cert, key := s.files(name)
	certPEM, err := readIfExists(cert)
	if err != nil {
		return nil, err
	}
	keyPEM, err := readIfExists(key)
	if err != nil {
		return nil, err
	}
	advice := fmt.Sprintf("put the original files back, or remove both %s and %s: the server issues a new pair at its next start", cert, key)
	if slices.Contains(roots, name) {
		advice = replaceRootAdvice
	}
	switch {
	case certPEM == nil && keyPEM == nil:
		return nil, nil
	case slices.Contains(roots, name) && (certPEM == nil || keyPEM == nil) && s.Binding.acceptsLoss():
		return nil, nil
	case certPEM == nil:
		return nil, &FileError{File: cert, What: fmt.Sprintf("is missing beside %s", key), Advice: advice}
	case keyPEM == nil:
		return nil, &FileError{File: key, What: fmt.Sprintf("is missing beside %s", cert), Advice: advice}
	}
	pair, err := parse(certPEM, keyPEM)
	if err != nil {
		return nil, &FileError{File: fmt.Sprintf("%s or %s", cert, key), What: fmt.Sprintf("is damaged: %v", err), Advice: advice}
	}
	return pair, nil
}

func readIfExists(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

const newSuffix = ".new"

// save makes both new files durable before it replaces the old ones. If the disk is full, the old
// ones stay. After a crash, endSave keeps either both old or both new files.
func (s Store) save(name string, p *Pair) error {
	if s.Dir == "" {
		if s.memory != nil { // nil without a Manager, because only a Manager reads it
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
	if err := errors.Join(os.Rename(newKey, key+newSuffix), os.Rename(newCert, cert+newSuffix), syncDir(s.Dir)); err != nil {
		return err
	}
	return s.endSave(name)
}

// endSave completes an interrupted save. If the new files of a pair are valid, it renames them into
// place. Otherwise it removes them. Some files may already have been renamed.
func (s Store) endSave(name string) error {
	cert, key := s.files(name)
	var texts [2][]byte
	var pending []string
	for i, path := range []string{cert, key} {
		text, err := readIfExists(path + newSuffix)
		if text != nil {
			pending = append(pending, path)
		} else if err == nil {
			text, err = readIfExists(path)
		}
		if err != nil {
			return err
		}
		texts[i] = text
	}
	if len(pending) == 0 {
		return nil
	}
	_, broken := parse(texts[0], texts[1])
	for _, path := range pending {
		var err error
		if broken != nil {
			err = os.Remove(path + newSuffix)
		} else {
			err = os.Rename(path+newSuffix, path)
		}
		if err != nil {
			return err
		}
	}
	return syncDir(s.Dir)
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

// usable reports whether a pair is valid and not about to expire. It also returns true if the clock
// is outside the CA's validity, because the clock is then probably wrong.
func (s Store) usable(p, ca *Pair) bool {
	now := s.now()
	return s.clockOutsideCA(ca) || !now.Before(p.Cert.NotBefore) && now.Add(renewBefore).Before(p.Cert.NotAfter)
}

// issueTime returns now, or a time shortly after the CA was issued if the clock is outside the CA's
// validity and thus probably wrong.
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
