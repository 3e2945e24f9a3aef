package cel

import (
	"errors"
	"fmt"
	"math"
	"net/netip"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

var (
	ipType   = cel.OpaqueType("net.IP")
	cidrType = cel.OpaqueType("net.CIDR")
)

// A sized is an opaque value with a size in bytes, which determines costs and the result of size().
type sized[T any] struct {
	opaque[T]
	size types.Int
}

func (s sized[T]) Size() ref.Val { return s.size }

// Equal compares two values. It returns kube-apiserver's error for a value of another type.
func (s sized[T]) Equal(other ref.Val) ref.Val {
	second, ok := other.(sized[T])
	if !ok {
		return types.ValOrErr(other, "no such overload")
	}
	return types.Bool(s.equal(s.value, second.value))
}

func (s sized[T]) ConvertToType(t ref.Type) ref.Val {
	switch {
	case t.TypeName() == s.kind.TypeName():
		return s
	case t == types.StringType:
		return types.String(s.text(s.value))
	}
	return s.opaque.ConvertToType(t)
}

func bytesOf(bits int) types.Int { return types.Int(math.Ceil(float64(bits) / 8)) }

// ipFunctions declares ip, isIP, ip.isCanonical, and the functions of IP values. Unlike Go's
// parser, they reject zones and IPv4-mapped IPv6 addresses. Otherwise an address in another
// notation could bypass a rule.
func ipFunctions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Types(ipType),
		function("ip", "string_to_ip", tryUnary(parseIP)),
		function("isIP", "is_ip", succeeds(parseIP)),
		function("ip.isCanonical", "ip_is_canonical", tryUnary(func(s string) (bool, error) {
			a, err := parseIP(s)
			return a.String() == s, err
		})),
		function("string", "ip_to_string", unary(netip.Addr.String)),
		method("family", "ip_family", unary(func(a netip.Addr) int {
			if a.Is4() {
				return 4
			}
			return 6
		})),
		method("isUnspecified", "ip_is_unspecified", unary(netip.Addr.IsUnspecified)),
		method("isLoopback", "ip_is_loopback", unary(netip.Addr.IsLoopback)),
		method("isLinkLocalMulticast", "ip_is_link_local_multicast", unary(netip.Addr.IsLinkLocalMulticast)),
		method("isLinkLocalUnicast", "ip_is_link_local_unicast", unary(netip.Addr.IsLinkLocalUnicast)),
		method("isGlobalUnicast", "ip_is_global_unicast", unary(netip.Addr.IsGlobalUnicast)),
	}
}

// parseIP rejects zones, which are local to a machine, and IPv4-mapped IPv6 addresses.
func parseIP(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil:
		return a, fmt.Errorf("IP Address %q parse error during conversion from string: %v", s, err)
	case a.Zone() != "":
		return a, fmt.Errorf("IP address %q with zone value is not allowed", s)
	case a.Is4In6():
		return a, fmt.Errorf("IPv4-mapped IPv6 address %q is not allowed", s)
	}
	return a, nil
}

func cidrFunctions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Types(cidrType),
		function("cidr", "string_to_cidr", tryUnary(textToCIDR)),
		function("isCIDR", "is_cidr", succeeds(parseCIDR)),
		function("string", "cidr_to_string", unary(netip.Prefix.String)),
		method("containsIP", "cidr_contains_ip_string", tryBinary(func(p netip.Prefix, s string) (bool, error) {
			a, err := parseIP(s)
			if err != nil { // without detail in this fault
				err = errors.New("no such overload")
			}
			return p.Contains(a), err
		})),
		method("containsIP", "cidr_contains_ip_ip", binary(netip.Prefix.Contains)),
		method("containsCIDR", "cidr_contains_cidr_string", tryBinary(func(p netip.Prefix, s string) (bool, error) {
			q, err := textToCIDR(s)
			return containsCIDR(p, q), err
		})),
		method("containsCIDR", "cidr_contains_cidr", binary(containsCIDR)),
		method("ip", "cidr_ip", unary(netip.Prefix.Addr)),
		method("prefixLength", "cidr_prefix_length", unary(netip.Prefix.Bits)),
		method("masked", "cidr_masked", unary(netip.Prefix.Masked)),
	}
}

func containsCIDR(p, q netip.Prefix) bool { return p.Overlaps(q) && p.Bits() <= q.Bits() }

func textToCIDR(s string) (netip.Prefix, error) {
	p, err := parseCIDR(s)
	if err != nil {
		err = fmt.Errorf("network address parse error during conversion from string: %w", err)
	}
	return p, err
}

func parseCIDR(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return p, fmt.Errorf("network address parse error during conversion from string: %v", err)
	case p.Addr().Is4In6():
		return p, fmt.Errorf("IPv4-mapped IPv6 address %q is not allowed", s)
	}
	return p, nil
}
