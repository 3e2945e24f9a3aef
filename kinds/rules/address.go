package rules

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/schema"
)

// IP checks that s is an IPv4 or IPv6 address in any form that package address parses.
func IP(s string) []string {
	if _, err := address.Parse(s); err != nil {
		return []string{"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"}
	}
	return nil
}

// strictIP checks that s is an address that all parsers interpret the same way.
func strictIP(s string) []string {
	a, err := netip.ParseAddr(s)
	switch faults := IP(s); {
	case faults != nil:
		return faults
	case err != nil:
		return []string{"must not have leading 0s"}
	case a.Is4In6():
		return []string{"must not be an IPv4-mapped IPv6 address"}
	}
	return nil
}

// CanonicalIP checks that s is an address in canonical form, in which equal addresses are equal
// strings.
func CanonicalIP(s string) []string {
	faults := strictIP(s)
	if a, _ := netip.ParseAddr(s); faults == nil && a.String() != s {
		return []string{fmt.Sprintf("must be in canonical form (%q)", a)}
	}
	return faults
}

// EndpointIP checks that s is an address that other hosts can reach.
func EndpointIP(s string) []string {
	if faults := IP(s); len(faults) > 0 {
		return faults
	}
	return SpecialIP(s)
}

// SpecialIP returns the reasons why other hosts cannot reach an unspecified, loopback or link-local
// address. It returns nil for other addresses.
func SpecialIP(s string) []string {
	a, err := address.Parse(s)
	if err != nil {
		return nil
	}
	var faults []string
	for _, special := range []struct {
		is  bool
		msg string
	}{
		{a.IsUnspecified(), "may not be unspecified (" + s + ")"},
		{a.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{a.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{a.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		if special.is {
			faults = append(faults, special.msg)
		}
	}
	return faults
}

// CIDR checks that s is a CIDR range.
func CIDR(s string) []string {
	if _, err := address.ParsePrefix(s); err != nil {
		return []string{"must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"}
	}
	return nil
}

// strictCIDR checks that s is a CIDR range that all parsers interpret the same way.
func strictCIDR(s string) []string {
	p, err := netip.ParsePrefix(s)
	switch faults := CIDR(s); {
	case faults != nil:
		return faults
	case err != nil:
		return []string{"must not have leading 0s in IP or prefix length"}
	case p.Addr().Is4In6():
		return []string{"must not have an IPv4-mapped IPv6 address"}
	case p.Masked() != p:
		return []string{"must not have bits set beyond the prefix length"}
	}
	return nil
}

// CanonicalCIDR checks that s is a CIDR range in canonical form.
func CanonicalCIDR(s string) []string {
	faults := strictCIDR(s)
	if p, _ := netip.ParsePrefix(s); faults == nil && p.String() != s {
		return []string{fmt.Sprintf("must be in canonical form (%q)", p)}
	}
	return faults
}

// AddressWarnings contains the rule functions that warn about ambiguous addresses and CIDRs. For
// example, leading zeros can bypass security rules.
var AddressWarnings = map[string]schema.CheckFunc{
	"ipHint": schema.TextCheck(func(s, path string, faults *schema.Faults) { faults.Warn(path, ipHint(s)) }),
	"rangeHints": schema.TextCheck(func(s, path string, faults *schema.Faults) {
		for _, text := range rangeHints(s) {
			faults.Warn(path, text)
		}
	}),
}

// ipHint returns the warning about a valid address, or "". It allocates nothing for canonical
// addresses.
func ipHint(value string) string {
	addr, err := netip.ParseAddr(value)
	var canonical [64]byte
	switch {
	case err != nil || addr.Is4In6():
		meant, err := address.Parse(value)
		if err != nil {
			return ""
		}
		return fmt.Sprintf("non-standard IP address %q is invalid: use %q", value, meant)
	case addr.Is6() && addr.Zone() == "" && string(addr.AppendTo(canonical[:0])) != value:
		return fmt.Sprintf("IPv6 address %q should be in RFC 5952 canonical format (%q)", value, addr)
	}
	return ""
}

func rangeHints(value string) (texts []string) {
	prefix, err := netip.ParsePrefix(value)
	addr := prefix.Addr()
	var canonical [64]byte
	if err == nil && prefix.Masked().Addr() == addr && (addr.Is4() || !addr.Is4In6() && string(prefix.AppendTo(canonical[:0])) == value) {
		return nil
	}
	ip, network, err := net.ParseCIDR(address.WithoutLeadingZeros(value))
	if err != nil {
		return nil
	}
	if !ip.Equal(network.IP) {
		_, bits := network.Mask.Size()
		texts = append(texts, fmt.Sprintf("CIDR value %q is ambiguous in this context (should be %q or %q?)", value, network, fmt.Sprintf("%s/%d", ip, bits)))
	}
	switch {
	case !prefix.IsValid() || addr.Is4In6():
		texts = append(texts, fmt.Sprintf("non-standard CIDR value %q is invalid: use %q", value, network))
	case len(texts) == 0 && addr.Is6():
		texts = append(texts, fmt.Sprintf("IPv6 CIDR value %q should be in RFC 5952 canonical format (%q)", value, prefix))
	}
	return texts
}
