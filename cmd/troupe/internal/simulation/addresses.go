package simulation

import (
	"fmt"
	"net/netip"
	"sync"
)

// addresses are those of Pods: of one range for all nodes, each of one Pod at a time.
type addresses struct {
	mu    sync.Mutex
	all   netip.Prefix
	last  netip.Addr // that was given out
	taken map[netip.Addr]bool
}

func newAddresses(all netip.Prefix) *addresses {
	return &addresses{all: all, last: all.Masked().Addr(), taken: map[netip.Addr]bool{}}
}

// take gives out an address that nobody has, in turn, so that one that is given back is not used again at once. It fails
// when all are taken.
func (a *addresses) take() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if bits := a.all.Addr().BitLen() - a.all.Bits(); bits < 32 && len(a.taken) >= 1<<bits-1 { // the first one names the range
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

// note notes an address that a Pod has already.
func (a *addresses) note(text string) {
	if ip, err := netip.ParseAddr(text); err == nil && a.all.Contains(ip) && ip != a.all.Masked().Addr() {
		a.mu.Lock()
		a.taken[ip] = true
		a.mu.Unlock()
	}
}

// release gives an address back; it does no harm for one that was not taken.
func (a *addresses) release(text string) {
	if ip, err := netip.ParseAddr(text); err == nil {
		a.mu.Lock()
		delete(a.taken, ip)
		a.mu.Unlock()
	}
}
