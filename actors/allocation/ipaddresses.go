package allocation

import (
	"net/netip"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ipAddresses is the allocator for IPAddress objects. A Service's IPAddress needs no reservation,
// because the Service already holds the address. Any other IPAddress reserves its address.
type ipAddresses struct{ services *ServiceAllocator }

func (a ipAddresses) Allocate(key meta.Key, old, want tree.Tree) (*request.Reservation, []meta.Cause) {
	address, err := netip.ParseAddr(key.Name)
	switch {
	case err != nil || old != nil && want != nil:
		return nil, nil // validation reports an invalid name
	case want == nil:
		return a.services.releaseOnCommit(key, address), nil
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
		return nil, nil // completes the Service of this address
	}
	return s.hold(key, address), nil
}

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

// CheckDelete rejects deleting a Service's IPAddress, which is deleted along with the Service.
func (a ipAddresses) CheckDelete(key meta.Key) error {
	address, err := netip.ParseAddr(key.Name)
	if err != nil {
		return nil
	}
	if owner, ok := a.services.ServiceOf(address); ok {
		return meta.NewForbidden(key.GroupResource, key.Name, "the address is used by the Service "+owner.Namespace+"/"+owner.Name+", with which it is deleted")
	}
	return nil
}

// ServiceOf returns the Service that holds an address.
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

func parentService(address tree.Tree) meta.Key {
	parent := address.Object("spec", "parentRef")
	if parent.String("group") != "" || parent.String("resource") != "services" {
		return meta.Key{}
	}
	return meta.Key{GroupResource: meta.GroupResource{Resource: "services"}, Namespace: parent.String("namespace"), Name: parent.String("name")}
}

// holdsAddress reports whether the IPAddress itself holds its address. If the IPAddress was created
// for a Service, the Service holds the address until the IPAddress is terminating.
func (s *ServiceAllocator) holdsAddress(address tree.Tree) bool {
	return !s.IsManaged(address) || parentService(address) == meta.Key{} || address.Object("metadata").Has("deletionTimestamp")
}

// IsManaged reports whether this allocator created the IPAddress.
func (s *ServiceAllocator) IsManaged(address tree.Tree) bool {
	return address.Labels().String(s.naming.Translate(managedByLabel)) == s.manager()
}

// Labels on IPAddresses created for Services.
const (
	familyLabel    = "ipaddress.platform.io/ip-family"
	managedByLabel = "ipaddress.platform.io/managed-by"
)

func (s *ServiceAllocator) manager() string { return s.naming.Group("ipallocator") }

// NewIPAddress returns the IPAddress object for a Service's address.
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

// IPAddressKey returns the key of the IPAddress for an address.
func (s *ServiceAllocator) IPAddressKey(a netip.Addr) meta.Key {
	return meta.Key{GroupResource: meta.GroupResource{Group: s.naming.Group("networking"), Resource: "ipaddresses"}, Name: a.String()}
}

func (c *serviceAllocation) companions() []request.Companion {
	s := c.allocator
	var companions []request.Companion
	for _, a := range c.acquired.addresses {
		companions = append(companions, request.Companion{Key: s.IPAddressKey(a), Object: s.NewIPAddress(c.owner, a)})
	}
	for _, a := range c.toRelease.addresses {
		key := s.IPAddressKey(a)
		companions = append(companions, request.Companion{Key: key, Reserve: func(remains bool) *request.Reservation {
			if !remains {
				return s.releaseOnCommit(key, a)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.hold(key, a) // until all finalizers are removed
		}})
	}
	return companions
}

// hold must be called with mu held.
func (s *ServiceAllocator) hold(owner meta.Key, a netip.Addr) *request.Reservation {
	s.addresses.add(owner, a)
	return &request.Reservation{OnRelease: s.releaseFunc(owner, a), Claims: []request.Claim{{Name: addressClaim(a)}}}
}

func (s *ServiceAllocator) releaseOnCommit(owner meta.Key, a netip.Addr) *request.Reservation {
	return &request.Reservation{OnCommit: s.releaseFunc(owner, a), Claims: []request.Claim{{Name: addressClaim(a), Release: true}}}
}

func (s *ServiceAllocator) releaseFunc(owner meta.Key, a netip.Addr) func() {
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.releaseAddress(owner, a)
	}
}
