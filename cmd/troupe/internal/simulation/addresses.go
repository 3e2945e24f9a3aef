package simulation

import (
	"fmt"
	"net/netip"
	"sync"
)

// addresses allocates Pod IPs from one CIDR for all nodes.
type addresses struct {
	mu    sync.Mutex
	all   netip.Prefix
	last  netip.Addr // the last allocated address
	taken map[netip.Addr]bool
}

func newAddresses(all netip.Prefix) *addresses {
	return &addresses{all: all, last: all.Masked().Addr(), taken: map[netip.Addr]bool{}}
}

// take allocates a free address. It searches after the last allocated address, so that a released
// address is not reused immediately.
func (a *addresses) take() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if bits := a.all.Addr().BitLen() - a.all.Bits(); bits < 32 && len(a.taken) >= 1<<bits-1 { // the first address names the range
		return "", fmt.Errorf("all addresses of %s are taken", a.all)
	}
	for {
		if a.last = a.last.Next(); !a.all.Contains(a.last) {
			a.last = a.all.Masked().Addr().Next()
		}
		if !a.taken[a.last] {
			a.taken[a.last] = true
			return a.last.String(), nil
		}
	}
}

func (a *addresses) note(text string) {
	if ip, err := netip.ParseAddr(text); err == nil && a.all.Contains(ip) && ip != a.all.Masked().Addr() {
		a.mu.Lock()
		a.taken[ip] = true
		a.mu.Unlock()
	}
}

func (a *addresses) release(text string) {
	if ip, err := netip.ParseAddr(text); err == nil {
		a.mu.Lock()
		delete(a.taken, ip)
		a.mu.Unlock()
	}
}
