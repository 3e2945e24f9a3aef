package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// repeated returns a JSON list of n distinct elements.
func repeated(n int, format string) string {
	var items []string
	for i := range n {
		items = append(items, fmt.Sprintf(format, i))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func TestEndpointSlice(t *testing.T) {
	k := KindInGroup(t, meta.Platform, "discovery.platform.io", "EndpointSlice")
	ports := func(list string) string { return `{"addressType":"IPv4","ports":` + list + `}` }
	RunValidationCases(t, k, []ValidationCase{
		{Obj: endpointSliceJSON("IPv4", `"addresses":["10.1.2.3"],"conditions":{"ready":true,"serving":null},"hostname":"a","nodeName":"n","zone":"z","hints":{"forZones":[{"name":"z"}],"forNodes":[{"name":"n"}]}`)},
		{Obj: endpointSliceJSON("IPv6", `"addresses":["fd00::1"]`)},
		{Obj: endpointSliceJSON("FQDN", `"addresses":["a.b."]`)},
		{Obj: `{"addressType":"IPv4","endpoints":null}`},
		{Obj: `{}`, Want: []string{`addressType: Required value`}},
		{Obj: `{"addressType":"X"}`, Want: []string{`addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6"`}},
		{Name: "another type", Old: `{"addressType":"IPv4"}`, Obj: `{"addressType":"IPv6"}`, Want: []string{`addressType: Invalid value: "IPv6": field is immutable`}},
		{Name: "1000 endpoints", Obj: `{"addressType":"IPv4","endpoints":` + repeated(1000, `{"addresses":["10.1.2.3"],"hostname":"h%d"}`) + `}`},
		{Name: "1001 endpoints", Obj: `{"addressType":"IPv4","endpoints":` + repeated(1001, `{"addresses":["10.1.2.3"],"hostname":"h%d"}`) + `}`, Want: []string{`endpoints: Too many: 1001: must have at most 1000 items`}},
		{Obj: endpointSliceJSON("IPv4", `"addresses":[]`), Want: []string{`endpoints[0].addresses: Required value: must contain at least 1 address`}},
		{Name: "100 addresses", Obj: endpointSliceJSON("IPv4", `"addresses":`+repeated(100, `"10.1.2.%d"`))},
		{Name: "101 addresses", Obj: endpointSliceJSON("IPv4", `"addresses":`+repeated(101, `"10.1.2.%d"`)), Want: []string{`endpoints[0].addresses: Too many: 101: must have at most 100 items`}},
		{Obj: endpointSliceJSON("IPv4", `"addresses":["10.1.2.3","10.1.2.3"]`), Want: []string{`endpoints[0].addresses[1]: Duplicate value: "10.1.2.3"`}},
		{Obj: endpointSliceJSON("IPv4", `"addresses":["fd00::1","x","127.0.0.1"]`), Want: []string{`endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address`,
			`endpoints[0].addresses[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`, `endpoints[0].addresses[2]: Invalid value: "127.0.0.1": ` + Loopback}},
		{Obj: endpointSliceJSON("IPv6", `"addresses":["10.1.2.3"]`), Want: []string{`endpoints[0].addresses: Invalid value: "10.1.2.3": must be an IPv6 address`}},
		{Obj: endpointSliceJSON("FQDN", `"addresses":["a","A.b"]`), Want: []string{`endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots`,
			`endpoints[0].addresses[1]: Invalid value: "A.b": a lowercase RFC 1123 subdomain…`}},
		{Obj: endpointSliceJSON("IPv4", `"addresses":["10.1.2.3"],"hostname":"A","nodeName":"N"`), Want: []string{`endpoints[0].hostname: Invalid value: "A": a lowercase RFC 1123 label…`,
			`endpoints[0].nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain…`}},
		{Obj: endpointSliceJSON("IPv4", `"addresses":["10.1.2.3"],"hints":{"forZones":[{"name":"z"},{"name":"z"},{},{"name":"a b"}]}`), Want: []string{`endpoints[0].hints.forZones[2].name: Required value`,
			`endpoints[0].hints.forZones[1].name: Duplicate value: "z"`, `endpoints[0].hints.forZones[3].name: Invalid value: "a b": a valid label…`}},
		{Obj: endpointSliceJSON("IPv4", `"addresses":["10.1.2.3"],"hints":{"forNodes":`+repeated(9, `{"name":"n%d"}`)+`}`), Want: []string{`endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items`}},
		{Name: "100 ports", Obj: ports(repeated(100, `{"name":"p%d"}`))},
		{Name: "101 ports", Obj: ports(repeated(101, `{"name":"p%d"}`)), Want: []string{`ports: Too many: 101: must have at most 100 items`}},
		{Obj: ports(`[{"name":"a"},{"name":"a"}]`), Want: []string{`ports[1].name: Duplicate value: "a"`}},
		{Obj: ports(`[{},{}]`), Want: []string{`ports[1].name: Duplicate value: ""`}},
		{Obj: ports(`[{"name":"-a"},{"name":"` + strings.Repeat("a", 64) + `"}]`), Want: []string{`ports[0].name: Invalid value: "-a": a lowercase RFC 1123 label…`, `ports[1].name: Invalid value: "` + strings.Repeat("a", 64) + `": must be no more than 63 characters`}},
		{Obj: ports(`[{"protocol":"X"}]`), Want: []string{`ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`}},
		{Obj: ports(`[{"appProtocol":"a b"}]`), Want: []string{`ports[0].appProtocol: Invalid value: "a b": name part…`}},
	})
	obj := Named(k, Parse(t, `{"addressType":"IPv4","endpoints":[{"addresses":["10.1.2.3"],"deprecatedTopology":{"a":"b"}}],"ports":[{}]}`))
	Expect(t, "topology", Create(k, obj), nil)
	EqualJSON(t, "topology and defaults", []any{obj["endpoints"], obj["ports"]}, `[[{"addresses":["10.1.2.3"]}],[{"name":"","protocol":"TCP"}]]`)
}

func endpointSliceJSON(kind, endpoint string) string {
	return `{"addressType":"` + kind + `","endpoints":[{` + endpoint + `}]}`
}
