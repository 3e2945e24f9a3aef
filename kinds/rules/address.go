package rules

import "net/netip"

// IP checks an IPv4 or IPv6 address.
func IP(s string) []string {
	if a, err := netip.ParseAddr(s); err != nil || a.Zone() != "" {
		return []string{"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"}
	}
	return nil
}

// EndpointIP checks an address that other hosts can reach.
func EndpointIP(s string) []string {
	if faults := IP(s); len(faults) > 0 {
		return faults
	}
	return SpecialIP(s)
}

// SpecialIP lists why other hosts cannot reach an address: it is unspecified, loopback or link-local.
func SpecialIP(s string) []string {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return nil
	}
	var faults []string
	for _, special := range []struct {
		is  bool
		msg string
	}{
		{a.IsUnspecified(), "may not be unspecified (0.0.0.0 or ::)"},
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

// CIDR checks a range of addresses.
func CIDR(s string) []string {
	if _, err := netip.ParsePrefix(s); err != nil {
		return []string{"must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"}
	}
	return nil
}
