package catalog

import (
	"net/netip"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// maxHints bounds the zones, and the nodes, that an endpoint is meant for.
const maxHints = 8

func endpointSliceRules() schema.Rules {
	return schema.Rules{Prepare: prepareEndpointSlice, Validate: validateEndpointSlice, Warn: warnEndpointSlice}
}

// warnEndpointSlice tells, at the path that users know, that names are no longer meant to be endpoints.
func warnEndpointSlice(obj, _ schema.Tree) []string {
	if rules.String(obj, "addressType") == "FQDN" {
		return []string{"spec.addressType: FQDN endpoints are deprecated"}
	}
	return nil
}

// prepareEndpointSlice ignores the topology, which only older versions could write.
func prepareEndpointSlice(obj, _ schema.Tree) {
	for _, e := range rules.Trees(obj, "endpoints") {
		delete(e, "deprecatedTopology")
	}
}

func validateEndpointSlice(obj schema.Tree, faults *schema.Faults) {
	kind := rules.String(obj, "addressType")
	for i, e := range rules.Trees(obj, "endpoints") {
		validateSliceEndpoint(e, kind, rules.IndexPath("endpoints", i), faults)
	}
	names := map[string]bool{}
	for i, p := range rules.Trees(obj, "ports") {
		at, name := rules.IndexPath("ports", i), rules.String(p, "name")
		validateFormat(p, "name", at, faults, rules.Label)
		if names[name] {
			faults.Duplicate(at+".name", name)
		}
		names[name] = true
		if rules.Has(p, "appProtocol") {
			validateQualifiedName(rules.String(p, "appProtocol"), at+".appProtocol", faults)
		}
	}
}

func validateSliceEndpoint(e schema.Tree, kind, at string, faults *schema.Faults) {
	addresses := rules.Strings(e, "addresses")
	if len(addresses) == 0 {
		faults.Required(at+".addresses", "must contain at least 1 address")
	}
	for i, a := range addresses {
		validateSliceAddress(a, kind, at+".addresses", i, faults)
	}
	if rules.Has(e, "hostname") {
		for _, msg := range rules.Label(rules.String(e, "hostname")) {
			faults.Invalid(at+".hostname", rules.String(e, "hostname"), msg)
		}
	}
	validateFormat(e, "nodeName", at, faults, rules.Subdomain)
	hints := rules.Nested(e, "hints")
	validateHints(rules.Trees(hints, "forZones"), at+".hints.forZones", rules.LabelValue, faults)
	validateHints(rules.Trees(hints, "forNodes"), at+".hints.forNodes", rules.Subdomain, faults)
}

// validateSliceAddress checks an address as the type of its slice demands.
func validateSliceAddress(a, kind, path string, i int, faults *schema.Faults) {
	switch kind {
	case familyIPv4, familyIPv6:
		ip, err := netip.ParseAddr(a)
		if err != nil || ip.Zone() != "" || familyOf(a) != kind {
			faults.Invalid(rules.IndexPath(path, i), a, "must be an "+kind+" address")
		}
		validateNonSpecialIP(a, rules.IndexPath(path, i), faults)
	case "FQDN":
		for _, f := range rules.FullDomain(a) {
			faults.Invalid(rules.IndexPath(path, i), f.Value, f.Message)
		}
	}
}

// validateHints checks what an endpoint is meant for: a few different names of one form.
func validateHints(hints []schema.Tree, path string, form func(string) []string, faults *schema.Faults) {
	if len(hints) > maxHints {
		faults.TooMany(path, len(hints), maxHints)
		return
	}
	seen := map[string]bool{}
	for i, h := range hints {
		at, name := rules.IndexPath(path, i)+".name", rules.String(h, "name")
		if seen[name] {
			faults.Duplicate(at, name)
		}
		seen[name] = true
		if name == "" {
			continue // the plan reports it
		}
		for _, msg := range form(name) {
			faults.Invalid(at, name, msg)
		}
	}
}
