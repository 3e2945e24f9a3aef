package address

import (
	"errors"
	"net/netip"
	"strings"
)

var errZone = errors.New("an address with a zone is only valid on one machine")

// Parse parses an address without a zone. It returns IPv4-mapped IPv6 addresses as IPv4.
func Parse(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		a, err = netip.ParseAddr(WithoutLeadingZeros(s))
	}
	if err == nil && a.Zone() != "" {
		return netip.Addr{}, errZone
	}
	return a.Unmap(), err
}

// ParsePrefix parses a CIDR range. Bits of the address beyond the prefix length need not be zero.
// An IPv4-mapped IPv6 range becomes an IPv4 range, unless it also contains other addresses.
func ParsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		p, err = netip.ParsePrefix(WithoutLeadingZeros(s))
	}
	const mapped = 96 // bits before the IPv4 address
	if a := p.Addr(); err == nil && a.Is4In6() && p.Bits() >= mapped {
		p = netip.PrefixFrom(a.Unmap(), p.Bits()-mapped)
	}
	return p, err
}

// IsIPv6 reports whether s is an IPv6 address that is not IPv4-mapped.
func IsIPv6(s string) bool {
	a, err := Parse(s)
	return err == nil && a.Is6()
}

// WithoutLeadingZeros removes leading zeros from the numbers in an address or range.
func WithoutLeadingZeros(s string) string {
	var b strings.Builder
	isFirst := true // digit of a number; a final zero is kept
	for i := range len(s) {
		if isFirst && s[i] == '0' && i+1 < len(s) && isHexDigit(s[i+1]) {
			continue
		}
		isFirst = !isHexDigit(s[i])
		b.WriteByte(s[i])
	}
	return b.String()
}

func isHexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
