package certs

import (
	"crypto/tls"
	"sync/atomic"
)

// An Own is the daemon's own certificates while it runs: they are renewed before they
// expire.
type Own struct {
	store Store
	names []string
	set   atomic.Pointer[Set]
}

// Open ensures the certificates of the store and returns them. Names are as for Ensure.
func (s Store) Open(names []string) (*Own, error) {
	set, err := s.Ensure(names)
	if err != nil {
		return nil, err
	}
	o := &Own{store: s, names: names}
	o.set.Store(&set)
	return o, nil
}

// Set is the certificates as they are now.
func (o *Own) Set() Set { return *o.set.Load() }

// Certificate is the serving certificate as it is now.
func (o *Own) Certificate() *tls.Certificate {
	c := o.set.Load().Server.TLS()
	return &c
}

// Trust is the PEM text of the CAs that have signed, or will have signed, what the daemon
// issues: the present one first.
func (o *Own) Trust() ([]byte, error) { return o.set.Load().CA.CertPEM, nil }

// Renew makes anew what expires soon, and tells whether anything did.
func (o *Own) Renew() (bool, error) {
	set := o.set.Load()
	if o.store.fresh(set.CA) && o.store.fresh(set.Server) && o.store.fresh(set.Admin) {
		return false, nil
	}
	next, err := o.store.Ensure(o.names)
	if err != nil {
		return false, err
	}
	o.set.Store(&next)
	return true, nil
}
