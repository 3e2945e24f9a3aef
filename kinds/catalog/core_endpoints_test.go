package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

const (
	noIP       = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
	noCIDR     = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
	outOfPorts = "must be between 1 and 65535, inclusive"
	loopback   = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
)

func TestEndpoints(t *testing.T) {
	k := coreKind(t, meta.Platform, "Endpoints")
	runValidationCases(t, k, []validationCase{
		{obj: `{}`},
		{obj: `{"subsets":[{"addresses":[{"ip":"10.1.2.3","hostname":"a","nodeName":"n"}],"ports":[{"port":1}]}]}`},
		{obj: `{"subsets":[{"ports":[{"port":1}]}]}`, want: []string{"subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"}},
		{obj: `{"subsets":[{"notReadyAddresses":[{"ip":"x","hostname":"A","nodeName":"N"}]}]}`, want: []string{`subsets[0].notReadyAddresses[0].ip: Invalid value: "x": ` + noIP,
			`subsets[0].notReadyAddresses[0].hostname: Invalid value: "A": a lowercase RFC 1123 label…`, `subsets[0].notReadyAddresses[0].nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain…`}},
		{obj: `{"subsets":[{"addresses":[{"ip":"::1"}]}]}`, want: []string{`subsets[0].addresses[0].ip: Invalid value: "::1": ` + loopback}},
		{obj: `{"subsets":[{"addresses":[{"ip":"10.1.2.3"}],"ports":[{"port":0,"protocol":"X"},{"port":2,"name":"B","appProtocol":"a b"}]}]}`, want: []string{
			`subsets[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`, `subsets[0].ports[0].name: Required value`,
			`subsets[0].ports[0].port: Invalid value: 0: ` + outOfPorts, `subsets[0].ports[1].name: Invalid value: "B": a lowercase…`, `subsets[0].ports[1].appProtocol: Invalid value: "a b": name part…`}},
	})
	obj := parseTree(t, `{"subsets":[{"ports":[{"port":1}]}]}`)
	rules.Default(k, obj)
	equalJSON(t, "defaults", obj["subsets"], `[{"ports":[{"port":1,"protocol":"TCP"}]}]`)
}

// endpointSliceJSON is an EndpointSlice of a type, with one endpoint.
func endpointSliceJSON(kind, endpoint string) string {
	return `{"addressType":"` + kind + `","endpoints":[{` + endpoint + `}]}`
}

// repeated is a JSON list of n elements that are all different.
func repeated(n int, form string) string {
	var items []string
	for i := range n {
		items = append(items, fmt.Sprintf(form, i))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func TestEndpointSlice(t *testing.T) {
	k := kindInGroup(t, meta.Platform, "discovery.platform.io", "EndpointSlice")
	ports := func(list string) string { return `{"addressType":"IPv4","ports":` + list + `}` }
	runValidationCases(t, k, []validationCase{
		{obj: endpointSliceJSON("IPv4", `"addresses":["10.1.2.3"],"conditions":{"ready":true,"serving":null},"hostname":"a","nodeName":"n","zone":"z","hints":{"forZones":[{"name":"z"}],"forNodes":[{"name":"n"}]}`)},
		{obj: endpointSliceJSON("IPv6", `"addresses":["fd00::1"]`)},
		{obj: endpointSliceJSON("FQDN", `"addresses":["a.b."]`)},
		{obj: `{"addressType":"IPv4","endpoints":null}`},
		{obj: `{}`, want: []string{`addressType: Required value`}},
		{obj: `{"addressType":"X"}`, want: []string{`addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6"`}},
		{name: "another type", old: `{"addressType":"IPv4"}`, obj: `{"addressType":"IPv6"}`, want: []string{`addressType: Invalid value: "IPv6": field is immutable`}},
		{name: "1000 endpoints", obj: `{"addressType":"IPv4","endpoints":` + repeated(1000, `{"addresses":["10.1.2.3"],"hostname":"h%d"}`) + `}`},
		{name: "1001 endpoints", obj: `{"addressType":"IPv4","endpoints":` + repeated(1001, `{"addresses":["10.1.2.3"],"hostname":"h%d"}`) + `}`, want: []string{`endpoints: Too many: 1001: must have at most 1000 items`}},
		{obj: endpointSliceJSON("IPv4", `"addresses":[]`), want: []string{`endpoints[0].addresses: Required value: must contain at least 1 address`}},
		{name: "100 addresses", obj: endpointSliceJSON("IPv4", `"addresses":`+repeated(100, `"10.1.2.%d"`))},
		{name: "101 addresses", obj: endpointSliceJSON("IPv4", `"addresses":`+repeated(101, `"10.1.2.%d"`)), want: []string{`endpoints[0].addresses: Too many: 101: must have at most 100 items`}},
		{obj: endpointSliceJSON("IPv4", `"addresses":["10.1.2.3","10.1.2.3"]`), want: []string{`endpoints[0].addresses[1]: Duplicate value: "10.1.2.3"`}},
		{obj: endpointSliceJSON("IPv4", `"addresses":["fd00::1","x","127.0.0.1"]`), want: []string{`endpoints[0].addresses[0]: Invalid value: "fd00::1": must be an IPv4 address`,
			`endpoints[0].addresses[1]: Invalid value: "x": must be an IPv4 address`, `endpoints[0].addresses[2]: Invalid value: "127.0.0.1": ` + loopback}},
		{obj: endpointSliceJSON("IPv6", `"addresses":["10.1.2.3"]`), want: []string{`endpoints[0].addresses[0]: Invalid value: "10.1.2.3": must be an IPv6 address`}},
		{obj: endpointSliceJSON("FQDN", `"addresses":["a","A.b"]`), want: []string{`endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots`,
			`endpoints[0].addresses[1]: Invalid value: "A.b": a lowercase RFC 1123 subdomain…`}},
		{obj: endpointSliceJSON("IPv4", `"addresses":["10.1.2.3"],"hostname":"A","nodeName":"N"`), want: []string{`endpoints[0].hostname: Invalid value: "A": a lowercase RFC 1123 label…`,
			`endpoints[0].nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain…`}},
		{obj: endpointSliceJSON("IPv4", `"addresses":["10.1.2.3"],"hints":{"forZones":[{"name":"z"},{"name":"z"},{},{"name":"a b"}]}`), want: []string{`endpoints[0].hints.forZones[2].name: Required value`,
			`endpoints[0].hints.forZones[1].name: Duplicate value: "z"`, `endpoints[0].hints.forZones[3].name: Invalid value: "a b": a valid label…`}},
		{obj: endpointSliceJSON("IPv4", `"addresses":["10.1.2.3"],"hints":{"forNodes":`+repeated(9, `{"name":"n%d"}`)+`}`), want: []string{`endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items`}},
		{name: "100 ports", obj: ports(repeated(100, `{"name":"p%d"}`))},
		{name: "101 ports", obj: ports(repeated(101, `{"name":"p%d"}`)), want: []string{`ports: Too many: 101: must have at most 100 items`}},
		{obj: ports(`[{"name":"a"},{"name":"a"}]`), want: []string{`ports[1].name: Duplicate value: "a"`}},
		{obj: ports(`[{},{}]`), want: []string{`ports[1].name: Duplicate value: ""`}},
		{obj: ports(`[{"name":"-a"},{"name":"` + strings.Repeat("a", 64) + `"}]`), want: []string{`ports[0].name: Invalid value: "-a": a lowercase RFC 1123 label…`, `ports[1].name: Invalid value: "` + strings.Repeat("a", 64) + `": must be no more than 63 bytes`}},
		{obj: ports(`[{"protocol":"X"}]`), want: []string{`ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`}},
		{obj: ports(`[{"appProtocol":"a b"}]`), want: []string{`ports[0].appProtocol: Invalid value: "a b": name part…`}},
	})
	obj := named(k, parseTree(t, `{"addressType":"IPv4","endpoints":[{"addresses":["10.1.2.3"],"deprecatedTopology":{"a":"b"}}],"ports":[{}]}`))
	expect(t, "topology", create(k, obj), nil)
	equalJSON(t, "topology and defaults", []any{obj["endpoints"], obj["ports"]}, `[[{"addresses":["10.1.2.3"]}],[{"name":"","protocol":"TCP"}]]`)
}
