package allocation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
)

// Range is a range of IP addresses. Offsets are relative to the network address.
type Range struct {
	prefix      netip.Prefix
	first, last uint64 // that may be assigned
}

// Minimum and maximum number of host bits in a range. A smaller range has too few usable addresses.
// Offsets in a larger range would overflow 64 bits.
const (
	minHostBits = 3
	maxHostBits = 64
)

// ParseRanges parses one CIDR, or two comma-separated CIDRs of different IP families, such as
// "10.0.0.0/24" or "10.0.0.0/16,fd00::/108". The family of the first CIDR is the default for
// Services.
func ParseRanges(s string) ([]Range, error) {
	var ranges []Range
	for text := range strings.SplitSeq(s, ",") {
		r, err := parseRange(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, r)
	}
	if len(ranges) > 2 || len(ranges) == 2 && ranges[0].v6() == ranges[1].v6() {
		return nil, fmt.Errorf("%q: at most one range of each IP family", s)
	}
	return ranges, nil
}

func parseRange(s string) (Range, error) {
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return Range{}, fmt.Errorf("%q is not a range of addresses, such as 10.0.0.0/24", s)
	case p.Masked() != p:
		return Range{}, fmt.Errorf("%q has bits set beyond its prefix: use %s", s, p.Masked())
	}
	host := p.Addr().BitLen() - p.Bits()
	if host < minHostBits || host > maxHostBits {
		return Range{}, fmt.Errorf("%q must have between 8 and 2^64 addresses", s)
	}
	r, _ := newRange(p)
	return r, nil
}

// newRange returns the range for a canonical prefix. It returns false if the prefix has no
// assignable address, or if offsets would overflow 64 bits.
func newRange(p netip.Prefix) (r Range, ok bool) {
	host := p.Addr().BitLen() - p.Bits()
	if host > maxHostBits {
		return Range{}, false
	}
	r = Range{prefix: p, first: 1, last: 1<<host - 1}
	if !r.v6() && r.last > 0 {
		r.last-- // the broadcast address
	}
	return r, r.last >= r.first
}

// String returns the range in the format that ParseRanges accepts.
func (r Range) String() string { return r.prefix.String() }

// First returns the first assignable address.
func (r Range) First() netip.Addr { return r.at(r.first) }

func (r Range) v6() bool { return r.prefix.Addr().Is6() }

func (r Range) family() string {
	if r.v6() {
		return familyIPv6
	}
	return familyIPv4
}

func (r Range) contains(a netip.Addr) bool {
	return r.prefix.Contains(a) && a != r.prefix.Addr() && (r.v6() || a != r.at(r.last+1))
}

// at returns the address at offset n. The prefix's host bits are 0, so the addition never carries.
func (r Range) at(n uint64) netip.Addr {
	b := r.prefix.Addr().As16()
	binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(b[8:])+n)
	a := netip.AddrFrom16(b)
	if !r.v6() {
		a = a.Unmap()
	}
	return a
}

// pick returns a random free address. It uses the static band only if all other addresses are
// taken.
func (r Range) pick(free func(netip.Addr) bool) (netip.Addr, bool) {
	lower := staticBandSize(r.last-r.first+1, 16, 16, 256)
	n, ok := pick(r.first, r.first+lower, r.last, func(n uint64) bool { return free(r.at(n)) })
	return r.at(n), ok
}

// PortRange is an inclusive range of ports.
type PortRange struct{ First, Last uint16 }

// ParsePortRange parses a range such as "30000-32767".
func ParsePortRange(s string) (PortRange, error) {
	low, high, _ := strings.Cut(s, "-")
	first, err1 := strconv.ParseUint(low, 10, 16)
	last, err2 := strconv.ParseUint(high, 10, 16)
	if err := errors.Join(err1, err2); err != nil || first == 0 || last < first {
		return PortRange{}, fmt.Errorf("%q is not a range of ports, such as 30000-32767", s)
	}
	return PortRange{uint16(first), uint16(last)}, nil
}

// String returns the range in the format that ParsePortRange accepts.
func (p PortRange) String() string { return fmt.Sprintf("%d-%d", p.First, p.Last) }

func (p PortRange) contains(n int64) bool { return n >= int64(p.First) && n <= int64(p.Last) }

func (p PortRange) pick(free func(int64) bool) (int64, bool) {
	first, last := uint64(p.First), uint64(p.Last)
	n, ok := pick(first, first+staticBandSize(last-first+1, 32, 16, 128), last, func(n uint64) bool { return free(int64(n)) })
	return int64(n), ok
}

func staticBandSize(size, share, lower, upper uint64) uint64 {
	if size < lower {
		return 0
	}
	return min(max(size/share, lower), upper, size)
}

func pick(first, middle, last uint64, free func(uint64) bool) (uint64, bool) {
	if n, ok := pickFrom(middle, last-middle+1, free); ok {
		return n, true
	}
	return pickFrom(first, middle-first, free)
}

// pickFrom returns the first free number from a random start, wrapping around. The random start
// makes it unlikely that a released address is reused while clients still cache it.
func pickFrom(first, size uint64, free func(uint64) bool) (uint64, bool) {
	if size == 0 {
		return 0, false
	}
	start := rand.Uint64N(size)
	for i := range size {
		n := first + (start+i)%size
		if free(n) {
			return n, true
		}
	}
	return 0, false
}
