package certs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// A Manager holds the server's own certificates and renews them before they expire.
type Manager struct {
	store Store
	names []string
	set   atomic.Pointer[Set]
	mu    sync.Mutex // guards the certificates in store
}

// Open loads or issues the certificates of the store (see Ensure) and returns their Manager.
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

// Fork returns an independent Manager with the same certificates, which must be in memory.
func (o *Manager) Fork() *Manager {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := &Manager{store: o.store, names: o.names}
	f.store.memory = maps.Clone(o.store.memory)
	f.set.Store(o.set.Load())
	return f
}

// Set returns the current certificates.
func (o *Manager) Set() Set { return *o.set.Load() }

// Certificate returns the current serving certificate.
func (o *Manager) Certificate() *tls.Certificate {
	c := o.set.Load().Server.TLS()
	return &c
}

// ProxyClient returns the current front proxy client certificate.
func (o *Manager) ProxyClient() *tls.Certificate {
	c := o.set.Load().ProxyClient.TLS()
	return &c
}

// KubeletClient returns the current client certificate for kubelets.
func (o *Manager) KubeletClient() *tls.Certificate {
	c := o.set.Load().KubeletClient.TLS()
	return &c
}

// IssueClient issues a client certificate for a user with groups. The certificate is not stored. It
// is valid for a year, but not beyond the CA.
func (o *Manager) IssueClient(name string, groups ...string) (*Pair, error) {
	return o.store.issueClient(o.set.Load().CA, client{name: name, groups: groups}, o.store.now())
}

// CABundle returns the CAs in PEM: the current one, followed by its unexpired predecessors.
func (o *Manager) CABundle() ([]byte, error) { return o.set.Load().CA.CertPEM, nil }

// Renew renews certificates that expire soon, or all certificates if an administrator has requested
// new CAs. It reports whether the serving certificate changed. If renewal succeeds, the error is
// the result of Warning.
func (o *Manager) Renew() (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
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

// Warning returns the problems that an administrator must solve: a clock outside the CA's validity,
// an expiring CA, or new certificates that cannot be saved. It first tries to save these
// certificates. Warning and Renew must not be called concurrently.
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
