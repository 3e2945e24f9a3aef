package allocation

import (
	"net/netip"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// serviceCIDRs updates the allocator's ranges when a ServiceCIDR is published. ServiceCIDRs
// themselves hold no values.
type serviceCIDRs struct{ services *ServiceAllocator }

func (a serviceCIDRs) Allocate(key meta.Key, _, want tree.Tree) (*request.Reservation, []meta.Cause) {
	ranges := usableRanges(want)
	return &request.Reservation{OnCommit: func() { a.services.setFurtherRanges(key.Name, ranges) }}, nil
}

func (a serviceCIDRs) Observe(key meta.Key, _, stored tree.Tree) []meta.Cause {
	a.services.setFurtherRanges(key.Name, usableRanges(stored))
	return nil
}

func (s *ServiceAllocator) setFurtherRanges(cidr string, ranges []Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.furtherRanges = slices.DeleteFunc(s.furtherRanges, func(f furtherRange) bool { return f.cidr == cidr })
	for _, r := range ranges {
		s.furtherRanges = append(s.furtherRanges, furtherRange{cidr, r})
	}
}

type furtherRange struct {
	cidr string
	Range
}

func usableRanges(o tree.Tree) []Range {
	if o == nil || o.Object("metadata").Has("deletionTimestamp") {
		return nil
	}
	if !tree.IsConditionTrue(o.Object("status"), "Ready") {
		return nil
	}
	var ranges []Range
	for _, text := range o.Object("spec").Strings("cidrs") {
		if p, err := netip.ParsePrefix(text); err == nil && p.Masked() == p {
			if r, ok := newRange(p); ok {
				ranges = append(ranges, r)
			}
		}
	}
	return ranges
}

// rangesOf returns the ranges of an IP family, starting with the configured range. The caller must
// hold mu.
func (s *ServiceAllocator) rangesOf(family string) []Range {
	var ranges []Range
	for _, r := range s.ranges {
		if r.family() == family {
			ranges = append(ranges, r)
		}
	}
	for _, f := range s.furtherRanges {
		if f.family() == family && !slices.Contains(ranges, f.Range) {
			ranges = append(ranges, f.Range)
		}
	}
	return ranges
}

// UsesAnyOf reports whether any allocated address satisfies the predicate among.
func (s *ServiceAllocator) UsesAnyOf(among func(netip.Addr) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.addresses {
		if among(a) {
			return true
		}
	}
	return false
}
