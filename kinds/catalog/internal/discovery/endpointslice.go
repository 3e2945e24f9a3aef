package discovery

import (
	"net/netip"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxHints bounds the zones and the nodes in the hints of an endpoint.
const maxHints = 8

func endpointSliceRules() schema.Rules {
	return schema.Rules{Prepare: prepareEndpointSlice, Validate: validateEndpointSlice, Warn: warnEndpointSlice}
}

// warnEndpointSlice warns that the address type FQDN is deprecated.
func warnEndpointSlice(obj, _ tree.Tree) []string {
	if obj.String("addressType") == "FQDN" {
		return []string{"spec.addressType: FQDN endpoints are deprecated"}
	}
	return nil
}

// prepareEndpointSlice drops deprecatedTopology, which only older API versions could write.
func prepareEndpointSlice(obj, _ tree.Tree) {
	for _, e := range obj.Objects("endpoints") {
		delete(e, "deprecatedTopology")
	}
}

func validateEndpointSlice(obj tree.Tree, faults *schema.Faults) {
	kind := obj.String("addressType")
	for i, e := range obj.Objects("endpoints") {
		validateSliceEndpoint(e, kind, tree.IndexPath("endpoints", i), faults)
	}
	names := map[string]bool{}
	for i, p := range obj.Objects("ports") {
		at, name := tree.IndexPath("ports", i), p.String("name")
		field.Format(p, "name", at, faults, rules.Label)
		if names[name] {
			faults.Duplicate(at+".name", name)
		}
		names[name] = true
		if p.Has("appProtocol") {
			field.QualifiedName(p.String("appProtocol"), at+".appProtocol", faults)
		}
	}
}

func validateSliceEndpoint(e tree.Tree, kind, at string, faults *schema.Faults) {
	addresses := e.Strings("addresses")
	if len(addresses) == 0 {
		faults.Required(at+".addresses", "must contain at least 1 address")
	}
	for i, a := range addresses {
		validateSliceAddress(a, kind, at+".addresses", i, faults)
	}
	if e.Has("hostname") {
		for _, msg := range rules.Label(e.String("hostname")) {
			faults.Invalid(at+".hostname", e.String("hostname"), msg)
		}
	}
	field.Format(e, "nodeName", at, faults, rules.Subdomain)
	hints := e.Object("hints")
	validateHints(hints.Objects("forZones"), at+".hints.forZones", rules.LabelValue, faults)
	validateHints(hints.Objects("forNodes"), at+".hints.forNodes", rules.Subdomain, faults)
}

// validateSliceAddress checks an address by the address type of its slice.
func validateSliceAddress(a, kind, path string, i int, faults *schema.Faults) {
	switch kind {
	case service.IPv4, service.IPv6:
		ip, err := netip.ParseAddr(a)
		if err != nil || ip.Zone() != "" || service.FamilyOf(a) != kind {
			faults.Invalid(tree.IndexPath(path, i), a, "must be an "+kind+" address")
		}
		field.NonSpecialIP(a, tree.IndexPath(path, i), faults)
	case "FQDN":
		for _, f := range rules.FullDomain(a) {
			faults.Invalid(tree.IndexPath(path, i), f.Value, f.Message)
		}
	}
}

// validateHints checks the zones or nodes in the hints of an endpoint: a few distinct names of one format.
func validateHints(hints []tree.Tree, path string, check func(string) []string, faults *schema.Faults) {
	if len(hints) > maxHints {
		faults.TooMany(path, len(hints), maxHints)
		return
	}
	seen := map[string]bool{}
	for i, h := range hints {
		at, name := tree.IndexPath(path, i)+".name", h.String("name")
		if seen[name] {
			faults.Duplicate(at, name)
		}
		seen[name] = true
		if name == "" {
			continue // the declaration requires it
		}
		for _, msg := range check(name) {
			faults.Invalid(at, name, msg)
		}
	}
}
