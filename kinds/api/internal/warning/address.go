package warning

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Addresses warns about valid IP addresses and ranges that programs interpret differently, such as
// leading zeros and IPv4-mapped IPv6 addresses, which can bypass rules.
type Addresses struct {
	future string // the part of a warning about future rejection
}

// NewAddresses returns Addresses with the texts of a naming profile.
func NewAddresses(n *meta.Naming) Addresses {
	return Addresses{future: "will be considered invalid in a future " + n.Product() + " release"}
}

// IP returns the warning about an address, to follow the field's path; "" if there is none.
func (a Addresses) IP(value string) string {
	addr, err := netip.ParseAddr(value)
	switch {
	case err != nil || addr.Is4In6():
		meant, err := address.Parse(value)
		if err != nil {
			return "" // validation reports it
		}
		return fmt.Sprintf(": non-standard IP address %q %s: use %q", value, a.future, meant)
	case addr.Is6() && addr.Zone() == "" && !isCanonical(addr, value):
		return fmt.Sprintf(": IPv6 address %q should be in RFC 5952 canonical format (%q)", value, addr)
	}
	return ""
}

// isCanonical allocates nothing, because it runs for each address of each written object.
func isCanonical(addr netip.Addr, value string) bool {
	var text [64]byte
	return string(addr.AppendTo(text[:0])) == value
}

// CIDR returns the warnings about a range, to follow the field's path. It formats nothing for usual
// ranges.
func (a Addresses) CIDR(value string) []string {
	prefix, err := netip.ParsePrefix(value)
	addr := prefix.Addr()
	if err == nil && prefix.Masked().Addr() == addr && (addr.Is4() || !addr.Is4In6() && isCanonicalRange(prefix, value)) {
		return nil
	}
	return a.unusualRange(prefix, value)
}

func isCanonicalRange(prefix netip.Prefix, value string) bool {
	var text [64]byte
	return string(prefix.AppendTo(text[:0])) == value
}

// unusualRange returns the warnings about an unusual range. prefix is invalid if the range has
// leading zeros.
func (a Addresses) unusualRange(prefix netip.Prefix, value string) (texts []string) {
	ip, network, err := net.ParseCIDR(address.WithoutLeadingZeros(value))
	if err != nil {
		return nil // validation reports it
	}
	if !ip.Equal(network.IP) {
		_, bits := network.Mask.Size()
		texts = append(texts, fmt.Sprintf(": CIDR value %q is ambiguous in this context (should be %q or %q?)",
			value, network, fmt.Sprintf("%s/%d", ip, bits)))
	}
	switch addr := prefix.Addr(); {
	case !prefix.IsValid() || addr.Is4In6():
		texts = append(texts, fmt.Sprintf(": non-standard CIDR value %q %s: use %q", value, a.future, network))
	case len(texts) == 0 && addr.Is6():
		texts = append(texts, fmt.Sprintf(": IPv6 CIDR value %q should be in RFC 5952 canonical format (%q)", value, prefix))
	}
	return texts
}

// AppendIPs warns about the addresses in a list of texts at path.
func (a Addresses) AppendIPs(texts []string, list []any, path Path) []string {
	for i, v := range list {
		value, _ := v.(string)
		if text := a.IP(value); text != "" {
			texts = append(texts, path.Index(i)+text)
		}
	}
	return texts
}

// AppendCIDRs warns about the ranges in a list of texts at path.
func (a Addresses) AppendCIDRs(texts []string, list []any, path Path) []string {
	for i, v := range list {
		value, _ := v.(string)
		for _, text := range a.CIDR(value) {
			texts = append(texts, path.Index(i)+text)
		}
	}
	return texts
}

// AppendObjectIPs warns about the field ip of the objects in a list at path. suffix, such as ".ip",
// follows the path of an object.
func (a Addresses) AppendObjectIPs(texts []string, list []any, path Path, suffix string) []string {
	for i, v := range list {
		object, _ := v.(tree.Tree)
		if text := a.IP(object.String("ip")); text != "" {
			texts = append(texts, path.Index(i)+suffix+text)
		}
	}
	return texts
}
