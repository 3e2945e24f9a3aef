package field

import (
	"net/netip"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// PortNumber checks the number of a port.
func PortNumber(n int64, path string, faults *schema.Faults) {
	if n < 1 || n > 65535 {
		faults.Invalid(path, n, BoundsMsg(1, 65535))
	}
}

// IntOrStringPort checks a port that is a number or a name.
func IntOrStringPort(v any, path string, faults *schema.Faults) {
	name, isName := v.(string)
	if !isName {
		n, _ := v.(int64)
		PortNumber(n, path, faults)
		return
	}
	for _, msg := range rules.PortName(name) {
		faults.Invalid(path, name, msg)
	}
}

// QualifiedName checks a name with an optional DNS prefix, such as example.com/name.
func QualifiedName(name, path string, faults *schema.Faults) {
	for _, msg := range rules.QualifiedName(name) {
		faults.Invalid(path, name, msg)
	}
}

// EndpointIP checks the address of an endpoint.
func EndpointIP(ip, path string, faults *schema.Faults) {
	if msgs := rules.IP(ip); len(msgs) > 0 {
		for _, msg := range msgs {
			faults.Invalid(path, ip, msg)
		}
		return
	}
	NonSpecialIP(ip, path, faults)
}

// NonSpecialIP refuses unspecified, loopback and link-local addresses, which other hosts cannot reach.
func NonSpecialIP(ip, path string, faults *schema.Faults) {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return
	}
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
			faults.Invalid(path, ip, special.msg)
		}
	}
}
