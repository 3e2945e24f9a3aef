package cel

import (
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

// Equal returns kube-apiserver's error for a value of another type.
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

func newIP(a netip.Addr) ref.Val {
	same := func(a, b netip.Addr) bool { return a == b }
	return sized[netip.Addr]{opaque[netip.Addr]{ipType, "IP", a, same, netip.Addr.String}, bytesOf(a.BitLen())}
}

// newCIDR returns a network value. As in kube-apiserver, its size is the prefix length in bytes.
func newCIDR(p netip.Prefix) ref.Val {
	same := func(a, b netip.Prefix) bool { return a == b }
	return sized[netip.Prefix]{opaque[netip.Prefix]{cidrType, "CIDR", p, same, netip.Prefix.String}, bytesOf(p.Bits())}
}

func bytesOf(bits int) types.Int { return types.Int(math.Ceil(float64(bits) / 8)) }

// ipFunctions declares ip, isIP, ip.isCanonical, and the functions of IP values. Unlike Go's
// parser, these functions reject zones and IPv4-mapped IPv6 addresses. Otherwise an address in a
// different notation could bypass a rule.
func ipFunctions() []cel.EnvOption {
	texts, ips := []*cel.Type{cel.StringType}, []*cel.Type{ipType}
	options := []cel.EnvOption{
		cel.Types(ipType),
		cel.Function("ip", cel.Overload("string_to_ip", texts, ipType, cel.UnaryBinding(unary(textToIP)))),
		cel.Function("isIP", cel.Overload("is_ip", texts, cel.BoolType, cel.UnaryBinding(unary(func(s string) ref.Val {
			_, err := parseIP(s)
			return types.Bool(err == nil)
		})))),
		cel.Function("ip.isCanonical", cel.Overload("ip_is_canonical", texts, cel.BoolType, cel.UnaryBinding(unary(func(s string) ref.Val {
			a, err := parseIP(s)
			if err != nil {
				return types.NewErr("%v", err)
			}
			return types.Bool(a.String() == s)
		})))),
		cel.Function("family", cel.MemberOverload("ip_family", ips, cel.IntType, cel.UnaryBinding(unary(func(a netip.Addr) ref.Val {
			if a.Is4() {
				return types.Int(4)
			}
			return types.Int(6)
		})))),
		cel.Function("string", cel.Overload("ip_to_string", ips, cel.StringType, cel.UnaryBinding(unary(func(a netip.Addr) ref.Val {
			return types.String(a.String())
		})))),
	}
	for _, question := range []struct {
		function, id string
		ask          func(netip.Addr) bool
	}{
		{"isUnspecified", "ip_is_unspecified", netip.Addr.IsUnspecified},
		{"isLoopback", "ip_is_loopback", netip.Addr.IsLoopback},
		{"isLinkLocalMulticast", "ip_is_link_local_multicast", netip.Addr.IsLinkLocalMulticast},
		{"isLinkLocalUnicast", "ip_is_link_local_unicast", netip.Addr.IsLinkLocalUnicast},
		{"isGlobalUnicast", "ip_is_global_unicast", netip.Addr.IsGlobalUnicast},
	} {
		options = append(options, cel.Function(question.function, cel.MemberOverload(question.id, ips, cel.BoolType,
			cel.UnaryBinding(unary(func(a netip.Addr) ref.Val { return types.Bool(question.ask(a)) })))))
	}
	return options
}

func textToIP(s string) ref.Val {
	a, err := parseIP(s)
	if err != nil {
		return types.NewErr("%v", err)
	}
	return newIP(a)
}

// parseIP parses an address. It rejects zones, which are local to a machine, and IPv4-mapped IPv6
// addresses.
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
	texts, cidrs := []*cel.Type{cel.StringType}, []*cel.Type{cidrType}
	of := func(call func(p netip.Prefix) ref.Val) cel.OverloadOpt { return cel.UnaryBinding(unary(call)) }
	return []cel.EnvOption{
		cel.Types(cidrType),
		cel.Function("cidr", cel.Overload("string_to_cidr", texts, cidrType, cel.UnaryBinding(unary(textToCIDR)))),
		cel.Function("isCIDR", cel.Overload("is_cidr", texts, cel.BoolType, cel.UnaryBinding(unary(func(s string) ref.Val {
			_, err := parseCIDR(s)
			return types.Bool(err == nil)
		})))),
		cel.Function("containsIP",
			cel.MemberOverload("cidr_contains_ip_string", []*cel.Type{cidrType, cel.StringType}, cel.BoolType, cel.BinaryBinding(func(p, s ref.Val) ref.Val {
				address := unary(textToIP)(s)
				if types.IsError(address) { // without detail in this fault
					return types.NoSuchOverloadErr()
				}
				return containsIP(p, address)
			})),
			cel.MemberOverload("cidr_contains_ip_ip", []*cel.Type{cidrType, ipType}, cel.BoolType, cel.BinaryBinding(containsIP))),
		cel.Function("containsCIDR",
			cel.MemberOverload("cidr_contains_cidr_string", []*cel.Type{cidrType, cel.StringType}, cel.BoolType, cel.BinaryBinding(func(p, s ref.Val) ref.Val {
				return containsCIDR(p, unary(textToCIDR)(s))
			})),
			cel.MemberOverload("cidr_contains_cidr", []*cel.Type{cidrType, cidrType}, cel.BoolType, cel.BinaryBinding(containsCIDR))),
		cel.Function("ip", cel.MemberOverload("cidr_ip", cidrs, ipType, of(func(p netip.Prefix) ref.Val { return newIP(p.Addr()) }))),
		cel.Function("prefixLength", cel.MemberOverload("cidr_prefix_length", cidrs, cel.IntType, of(func(p netip.Prefix) ref.Val { return types.Int(p.Bits()) }))),
		cel.Function("masked", cel.MemberOverload("cidr_masked", cidrs, cidrType, of(func(p netip.Prefix) ref.Val { return newCIDR(p.Masked()) }))),
		cel.Function("string", cel.Overload("cidr_to_string", cidrs, cel.StringType, of(func(p netip.Prefix) ref.Val { return types.String(p.String()) }))),
	}
}

func containsIP(network, address ref.Val) ref.Val {
	return binary(func(p netip.Prefix, a netip.Addr) ref.Val { return types.Bool(p.Contains(a)) })(network, address)
}

func containsCIDR(network, other ref.Val) ref.Val {
	return binary(func(p, q netip.Prefix) ref.Val { return types.Bool(p.Overlaps(q) && p.Bits() <= q.Bits()) })(network, other)
}

func textToCIDR(s string) ref.Val {
	p, err := parseCIDR(s)
	if err != nil {
		return types.NewErr("network address parse error during conversion from string: %v", err)
	}
	return newCIDR(p)
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
