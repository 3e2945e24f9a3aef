package address

import (
	"errors"
	"net/netip"
	"strings"
)

var errZone = errors.New("an address with a zone means something on one machine only")

// Parse reads an address. One of IPv4 in the form of IPv6 is returned as one of IPv4; there are no zones.
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

// ParsePrefix reads a range. One of IPv4 in the form of IPv6 is returned as one of IPv4, unless it holds more than that.
// The address may have bits beyond the length.
func ParsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		p, err = netip.ParsePrefix(WithoutLeadingZeros(s))
	}
	const mapped = 96 // bits before the address of IPv4
	if a := p.Addr(); err == nil && a.Is4In6() && p.Bits() >= mapped {
		p = netip.PrefixFrom(a.Unmap(), p.Bits()-mapped)
	}
	return p, err
}

// IsIPv6 tells whether a text is an address of IPv6, and not one of IPv4 in its form.
func IsIPv6(s string) bool {
	a, err := Parse(s)
	return err == nil && a.Is6()
}

// WithoutLeadingZeros drops the zeros before the numbers of an address or a range.
func WithoutLeadingZeros(s string) string {
	var b strings.Builder
	isFirst := true // of the digits of a number, of which a last zero is kept
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
