package allocation

import (
	"net/netip"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ipAddresses is the mutation.Allocator of IPAddresses. One that a Service has brought with it holds nothing: its Service
// holds the address. One that somebody else has made takes its address from everybody.
type ipAddresses struct{ services *ServiceAllocator }

// Allocate implements mutation.Allocator.
func (a ipAddresses) Allocate(key meta.Key, old, want tree.Tree) (request.Reservation, []meta.Cause) {
	address, err := netip.ParseAddr(key.Name)
	switch {
	case err != nil || old != nil && want != nil:
		return nil, nil // of a name that is no address tells the validation
	case want == nil:
		return &addressHold{services: a.services, owner: key, address: address, leaving: true}, nil
	}
	s := a.services
	s.mu.Lock()
	defer s.mu.Unlock()
	parent := parentService(want)
	for _, h := range s.addresses[address] {
		if h.owner != parent {
			var faults schema.Faults
			faults.Duplicate("metadata.name", key.Name)
			return nil, faults.List
		}
	}
	if !s.addresses.unallocated(address) {
		return nil, nil // what the Service of this address lacks
	}
	return s.hold(key, address), nil
}

// Observe implements mutation.Allocator.
func (a ipAddresses) Observe(key meta.Key, old, stored tree.Tree) []meta.Cause {
	address, err := netip.ParseAddr(key.Name)
	if err != nil {
		return nil
	}
	s := a.services
	s.mu.Lock()
	defer s.mu.Unlock()
	var faults schema.Faults
	switch had, has := old != nil && s.holdsAddress(old), stored != nil && s.holdsAddress(stored); {
	case had && !has:
		s.releaseAddress(key, address)
	case has && !had:
		if !s.addresses.available(key, address) {
			faults.Duplicate("metadata.name", key.Name)
		}
		s.addresses.add(key, address)
	}
	return faults.List
}

// CheckDelete implements mutation.DeletionGuard: the IPAddress of a Service goes with that.
func (a ipAddresses) CheckDelete(key meta.Key) error {
	address, err := netip.ParseAddr(key.Name)
	if err != nil {
		return nil
	}
	if owner, ok := a.services.ServiceOf(address); ok {
		return meta.NewForbidden(key.GroupResource, key.Name, "this is the address of the Service "+owner.Namespace+"/"+owner.Name+", and goes with it")
	}
	return nil
}

// ServiceOf is the Service that holds an address.
func (s *ServiceAllocator) ServiceOf(a netip.Addr) (service meta.Key, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.addresses[a] {
		if h.owner.GroupResource == s.apiService.GroupResource {
			return h.owner, true
		}
	}
	return meta.Key{}, false
}

// parentService is the key of the Service that an IPAddress names as its parent; the zero key if that is something else.
func parentService(address tree.Tree) meta.Key {
	parent := address.Object("spec", "parentRef")
	if parent.String("group") != "" || parent.String("resource") != "services" {
		return meta.Key{}
	}
	return meta.Key{GroupResource: meta.GroupResource{Resource: "services"}, Namespace: parent.String("namespace"), Name: parent.String("name")}
}

// holdsAddress tells whether an IPAddress holds its address itself. One that was made with a Service does so only when the Service
// has let go of it, which is when its deletion has begun.
func (s *ServiceAllocator) holdsAddress(address tree.Tree) bool {
	return !s.IsManaged(address) || parentService(address) == meta.Key{} || address.Object("metadata").Has("deletionTimestamp")
}

// IsManaged tells whether an IPAddress says that the allocator of Services has made it.
func (s *ServiceAllocator) IsManaged(address tree.Tree) bool {
	return address.Object("metadata", "labels").String(s.naming.Translate(managedByLabel)) == s.manager()
}

// The labels of the IPAddresses of Services.
const (
	familyLabel    = "ipaddress.platform.io/ip-family"
	managedByLabel = "ipaddress.platform.io/managed-by"
)

// manager is what managedByLabel says of them.
func (s *ServiceAllocator) manager() string { return s.naming.Group("ipallocator") }

// NewIPAddress is the IPAddress of an address of a Service.
func (s *ServiceAllocator) NewIPAddress(service meta.Key, a netip.Addr) tree.Tree {
	family := familyIPv4
	if a.Is6() {
		family = familyIPv6
	}
	return tree.Tree{
		"metadata": tree.Tree{"name": a.String(), "labels": tree.Tree{
			s.naming.Translate(familyLabel): family, s.naming.Translate(managedByLabel): s.manager(),
		}},
		"spec": tree.Tree{"parentRef": tree.Tree{"resource": "services", "namespace": service.Namespace, "name": service.Name}},
	}
}

// IPAddressKey is the key of the IPAddress of an address.
func (s *ServiceAllocator) IPAddressKey(a netip.Addr) meta.Key {
	return meta.Key{GroupResource: meta.GroupResource{Group: s.naming.Group("networking"), Resource: "ipaddresses"}, Name: a.String()}
}

// Companions implements request.Accompanied: the IPAddresses of the addresses that are acquired or given up.
func (c *serviceAllocation) Companions() []request.Companion {
	if len(c.acquired.addresses)+len(c.toRelease.addresses) == 0 {
		return nil
	}
	s := c.allocator
	var companions []request.Companion
	for _, a := range c.acquired.addresses {
		companions = append(companions, request.Companion{
			Key: s.IPAddressKey(a), Object: s.NewIPAddress(c.owner, a),
			Reserved: func(bool) request.Reservation { return request.NoReservation },
		})
	}
	for _, a := range c.toRelease.addresses {
		companions = append(companions, request.Companion{Key: s.IPAddressKey(a), Reserved: func(remains bool) request.Reservation {
			if !remains {
				return &addressHold{services: s, owner: s.IPAddressKey(a), address: a, leaving: true}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.hold(s.IPAddressKey(a), a) // until its finalizers are gone
		}})
	}
	return companions
}

// addressHold is the request.Reservation of an IPAddress that comes or goes.
type addressHold struct {
	services *ServiceAllocator
	owner    meta.Key
	address  netip.Addr
	leaving  bool
}

// hold takes an address for an IPAddress. The caller holds the lock.
func (s *ServiceAllocator) hold(owner meta.Key, a netip.Addr) *addressHold {
	s.addresses.add(owner, a)
	return &addressHold{services: s, owner: owner, address: a}
}

// Commit implements request.Reservation.
func (h *addressHold) Commit() { h.giveUp(h.leaving) }

// Release implements request.Reservation.
func (h *addressHold) Release() { h.giveUp(!h.leaving) }

func (h *addressHold) giveUp(really bool) {
	if !really {
		return
	}
	h.services.mu.Lock()
	defer h.services.mu.Unlock()
	h.services.releaseAddress(h.owner, h.address)
}

// Claims implements request.Claimant.
func (h *addressHold) Claims() (taken, released []string) {
	name := serviceResources{addresses: []netip.Addr{h.address}}.names()
	if h.leaving {
		return nil, name
	}
	return name, nil
}
