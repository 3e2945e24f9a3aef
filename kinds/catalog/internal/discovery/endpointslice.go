package discovery

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxHints bounds the zones and the nodes in the hints of an endpoint. Proxies keep the hints of every
// endpoint in memory on each node.
const maxHints = 8

// endpointSliceStrategy has no status to keep: a slice as a whole is what its controller observed.
type endpointSliceStrategy struct {
	family.AlwaysWarns
	addresses                     warning.Addresses
	managedBy, controller, mirror string // the label, and its values for copies
}

func (endpointSliceStrategy) CountedMetadata() string { return "labels" }

// Prepare drops deprecatedTopology, which only older API versions could write.
func (endpointSliceStrategy) Prepare(obj, _ tree.Tree) {
	for _, e := range obj.Objects("endpoints") {
		delete(e, "deprecatedTopology")
	}
}

// Ports without a name count as having the name "", which only one of them may have: consumers find a port by its
// name.
func (endpointSliceStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
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
	}
}

// Hints are only names of zones and nodes here; whether these exist changes faster than the slice.
func validateSliceEndpoint(e tree.Tree, kind, at string, faults *schema.Faults) {
	for i, a := range e.Strings("addresses") {
		validateSliceAddress(a, kind, at+".addresses", i, faults)
	}
	hints := e.Object("hints")
	validateHints(hints.Objects("forZones"), at+".hints.forZones", rules.LabelValue, faults)
	validateHints(hints.Objects("forNodes"), at+".hints.forNodes", rules.Subdomain, faults)
}

// validateSliceAddress checks an address by the address type of its slice.
//
// Addresses that lead back to the node itself, or to everybody, are refused: traffic that is sent to such an endpoint
// could reach what is open to the node alone.
func validateSliceAddress(a, kind, path string, i int, faults *schema.Faults) {
	switch kind {
	case service.IPv4, service.IPv6:
		validateSliceIP(a, kind, path, i, faults)
	case "FQDN":
		for _, f := range rules.FullDomain(a) {
			faults.Invalid(tree.IndexPath(path, i), f.Value, f.Message)
		}
	}
}

// validateSliceIP checks an address of IPv4 in any form, and one of IPv6 in its canonical form only, as slices have never
// held others.
func validateSliceIP(a, kind, path string, i int, faults *schema.Faults) {
	check := rules.IP
	if kind == service.IPv6 {
		check = rules.CanonicalIP
	}
	msgs := check(a)
	if len(msgs) == 0 && service.FamilyOf(a) != kind { // this error alone has the path of the list
		faults.Invalid(path, a, "must be an "+kind+" address")
	}
	for _, msg := range append(msgs, rules.SpecialIP(a)...) {
		faults.Invalid(tree.IndexPath(path, i), a, msg)
	}
}

// validateHints checks the zones or nodes in the hints of an endpoint: a few distinct names of one format.
// Too many are reported without a look at each, since their faults would be as many.
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
