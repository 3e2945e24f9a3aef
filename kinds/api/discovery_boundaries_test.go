package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestDiscoveryBoundaries(t *testing.T) {
	RunValidationCases(t, KindInGroup(t, meta.Platform, "discovery.platform.io", "EndpointSlice"), []ValidationCase{
		{Obj: endpointSliceJSON("IPv6", `"addresses":["fd00::1%a"]`), Want: []string{`endpoints[0].addresses[0]: Invalid value: "fd00::1%a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`}}})
}

func TestDiscoveryValidObjects(t *testing.T) {
	ExpectValid(t, "discovery.platform.io", "v1", "EndpointSlice", endpointSliceJSON("IPv4", `"addresses":["10.1.2.3"],"hints":{"forZones":[`+RepeatItem(8, `{"name":"%"}`)+`]}`), `{"addressType":"IPv4","ports":[{"port":65535}]}`)
}
