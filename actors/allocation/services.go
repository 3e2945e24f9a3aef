package allocation

import (
	"net/netip"
	"strconv"
	"sync"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Services hands out the addresses and ports of Services. It is safe for concurrent use.
type Services struct {
	ranges []Range // one, or one of each family; the first is the default
	ports  Ports

	mu        sync.Mutex
	addresses register[netip.Addr]
	nodePorts register[int64]
}

var _ mutation.Claims = (*Services)(nil)

// NewServices hands out of ranges, which ParseRanges has made, and ports. own is the
// service of the API itself: the first address of all stays with it.
func NewServices(ranges []Range, ports Ports, own meta.Key) *Services {
	s := &Services{ranges: ranges, ports: ports, addresses: register[netip.Addr]{}, nodePorts: register[int64]{}}
	s.addresses.take(own, s.Own())
	return s
}

// Own is the address of the service of the API itself.
func (s *Services) Own() netip.Addr { return s.ranges[0].First() }

// Claim implements mutation.Claims.
func (s *Services) Claim(key meta.Key, old, want schema.Tree) (mutation.Claim, []meta.Cause) {
	c := &claim{services: s, owner: key}
	was := holdingsOf(rules.Sub(old, "spec"))
	if want == nil {
		c.lost = was
		return c, nil
	}
	spec := rules.Grow(want, "spec")
	if old != nil && rules.Equal(spec, old["spec"]) {
		return c, nil // as when the status is written
	}
	var faults schema.Faults
	s.mu.Lock()
	defer s.mu.Unlock()
	change := change{claim: c, spec: spec, was: rules.Sub(old, "spec"), had: was, faults: &faults}
	change.settle()
	if len(faults.List) > 0 {
		c.give(c.taken)
		return nil, faults.List
	}
	c.lost = was.without(holdingsOf(spec))
	return c, nil
}

// Restore implements mutation.Claims.
func (s *Services) Restore(key meta.Key, has schema.Tree) []meta.Cause {
	var faults schema.Faults
	s.mu.Lock()
	defer s.mu.Unlock()
	held := holdingsOf(rules.Sub(has, "spec"))
	for _, a := range held.addresses {
		if !s.addresses.free(key, a) {
			faults.Duplicate("spec.clusterIPs", a.String())
		}
		s.addresses.take(key, a)
	}
	for _, p := range held.ports {
		if !s.nodePorts.free(key, p) {
			faults.Duplicate("spec.ports.nodePort", p)
		}
		s.nodePorts.take(key, p)
	}
	return faults.List
}

// Held lists what is taken, each with its owners: addresses and ports in text form. The
// address that is kept for the service of the API is listed whether that exists or not.
func (s *Services) Held() map[string][]meta.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := map[string][]meta.Key{}
	for a, list := range s.addresses {
		for _, h := range list {
			held[a.String()] = append(held[a.String()], h.owner)
		}
	}
	for p, list := range s.nodePorts {
		for _, h := range list {
			held[strconv.FormatInt(p, 10)] = append(held[strconv.FormatInt(p, 10)], h.owner)
		}
	}
	return held
}

// holdings are what one Service has.
type holdings struct {
	addresses []netip.Addr
	ports     []int64
}

// holdingsOf reads what a Service of this spec has. What is no address is none.
func holdingsOf(spec schema.Tree) holdings {
	var h holdings
	if catalog.ServiceNeedsClusterIP(spec) {
		for _, text := range rules.Texts(spec, "clusterIPs") {
			if a, err := netip.ParseAddr(text); err == nil {
				h.addresses = appendNew(h.addresses, a)
			}
		}
	}
	if catalog.ServiceNeedsNodePort(spec) {
		for _, p := range rules.Trees(spec, "ports") {
			if n, _ := rules.Int(p, "nodePort"); n != 0 {
				h.ports = appendNew(h.ports, n)
			}
		}
	}
	if n, _ := rules.Int(spec, "healthCheckNodePort"); n != 0 && catalog.ServiceNeedsHealthCheck(spec) {
		h.ports = appendNew(h.ports, n)
	}
	return h
}

// without is h but for what other has.
func (h holdings) without(other holdings) holdings {
	return holdings{difference(h.addresses, other.addresses), difference(h.ports, other.ports)}
}
