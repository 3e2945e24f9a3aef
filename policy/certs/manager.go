package certs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
)

// A Manager holds the daemon's own certificates while it runs: they are renewed before they
// expire.
type Manager struct {
	store Store
	names []string
	set   atomic.Pointer[Set]
}

// Open ensures the certificates of the store and returns them. Names are as for Ensure.
func (s Store) Open(names []string) (*Manager, error) {
	if s.Dir == "" {
		s.memory = map[string]*Pair{}
	}
	set, err := s.Ensure(names)
	if err != nil {
		return nil, err
	}
	o := &Manager{store: s, names: names}
	o.set.Store(&set)
	return o, nil
}

// Set is the certificates as they are now.
func (o *Manager) Set() Set { return *o.set.Load() }

// Certificate is the serving certificate as it is now.
func (o *Manager) Certificate() *tls.Certificate {
	c := o.set.Load().Server.TLS()
	return &c
}

// ProxyClient is the certificate with which the daemon vouches for users, as it is now.
func (o *Manager) ProxyClient() *tls.Certificate {
	c := o.set.Load().ProxyClient.TLS()
	return &c
}

// KubeletClient returns the certificate that the daemon presents to kubelets, as it is now.
func (o *Manager) KubeletClient() *tls.Certificate {
	c := o.set.Load().KubeletClient.TLS()
	return &c
}

// IssueClient makes a certificate for a user of that name, who is a member of the groups. It is kept nowhere, and ends with
// the CA or after a year.
func (o *Manager) IssueClient(name string, groups ...string) (*Pair, error) {
	return o.store.issueClient(o.set.Load().CA, client{name: name, groups: groups}, o.store.now())
}

// CABundle is the PEM text of the CAs that have signed, or will have signed, what the daemon
// issues: the present one first.
func (o *Manager) CABundle() ([]byte, error) { return o.set.Load().CA.CertPEM, nil }

// Renew makes anew what expires soon or is asked for, and tells whether anything did. The error
// is also what an administrator has to see to; the certificates are of use all the same.
func (o *Manager) Renew() (bool, error) {
	set := o.set.Load()
	if o.store.renewRequested() || !o.store.usable(set.Server, set.CA) || !o.store.usable(set.Admin, set.CA) ||
		!o.store.usable(set.KubeletClient, set.CA) || !o.store.usable(set.ProxyClient, set.ProxyCA) {
		next, err := o.store.Ensure(o.names)
		if err != nil {
			return false, err
		}
		o.set.Store(&next)
		return next.Server != set.Server, o.Warning()
	}
	return false, o.Warning()
}

// Warning is what an administrator has to see to: a clock that is outside the time of the CA, a
// CA that expires soon, or new certificates that could not be saved yet, which it tries again.
// Only one goroutine may call it or Renew at a time.
func (o *Manager) Warning() error {
	set := o.set.Load()
	errs := []error{o.store.checkCA(set.CA), o.store.checkCA(set.ProxyCA)}
	for _, name := range slices.Sorted(maps.Keys(set.unsaved)) {
		if err := o.store.save(name, set.unsaved[name]); err != nil {
			errs = append(errs, fmt.Errorf("the new certificate %q is in use, but cannot be saved: %w", name, err))
			continue
		}
		delete(set.unsaved, name)
	}
	return errors.Join(errs...)
}
