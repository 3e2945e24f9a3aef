package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestDeviceClass(t *testing.T) {
	RunBodyCases(t, KindByGVK(t, meta.Platform, DeviceGroup, "v1", "DeviceClass"), []BodyCase{
		{Body: `{"spec":{"selectors":[{"cel":{"expression":"true"}}],"config":[{"opaque":{"driver":"d.e","parameters":{"a":1}}}]}}`, Want: nil},
		{Body: `{"spec":{"selectors":[{},{"cel":{}}],"config":[{},{"opaque":{"driver":"D","parameters":"x"}},{"opaque":{}}]}}`, Want: []string{
			`spec.selectors[1].cel.expression: Required value`, `spec.config[1].opaque.driver: Invalid value: "D": a lowercase…`,
			`spec.config[2].opaque.driver: Required value`, `spec.config[2].opaque.parameters: Required value`,
			`spec.selectors[0].cel: Required value`, `spec.config[0].opaque: Required value`, `spec.config[1].opaque.parameters: Invalid value: "x": must be a valid JSON object`}},
		{Body: `{"spec":{"selectors":[` + strings.Repeat(`{"cel":{"expression":"true"}},`, 32) + `{"cel":{"expression":"true"}}]}}`, Want: []string{`spec.selectors: Too many: 33: must have at most 32 items`}},
		{Body: `{"spec":{"selectors":[{"cel":{"expression":"device.driver == 'd.e' && device.attributes['d.e'].a == 1"}},{"cel":{"expression":"self.x"}},{"cel":{"expression":"1"}},
			{"cel":{"expression":"device.attributes.all(d, device.attributes.all(e, device.attributes.all(f, d + e != e + f)))"}}]}}`, Want: []string{
			`spec.selectors[1].cel.expression: Invalid value: "self.x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'self'…`,
			`spec.selectors[2].cel.expression: Invalid value: "1": must evaluate to bool or the unknown type, not int`,
			`spec.selectors[3].cel.expression: Forbidden: too complex, exceeds cost limit`}},
	})
}

// TestSelectorsThatStay: unchanged selectors are not compiled again; another server version may
// have had other functions.
func TestSelectorsThatStay(t *testing.T) {
	k := KindByGVK(t, meta.Platform, DeviceGroup, "v1", "DeviceClass")
	old := Parse(t, `{"spec":{"selectors":[{"cel":{"expression":"later()"}}]}}`)
	for text, want := range map[string][]string{
		`{"metadata":{"labels":{"a":"b"}},"spec":{"selectors":[{"cel":{"expression":"later()"}}]}}`: nil,
		`{"spec":{"selectors":[{"cel":{"expression":"later2()"}}]}}`:                                {`spec.selectors[0].cel.expression: Invalid value: "later2()": compilation failed: ERROR: <input>:1:7: undeclared reference to 'later2'…`},
	} {
		Expect(t, text, Lines(rules.ValidateServed(k, Parse(t, text), old)), want)
	}
}

func TestResourceClaim(t *testing.T) {
	k := KindByGVK(t, meta.Platform, DeviceGroup, "v1", "ResourceClaim")
	devices := func(text string) string { return `{"spec":{"devices":{` + text + `}}}` }
	EqualJSON(t, "defaults", Defaulted(t, k, devices(`"requests":[{"name":"a","exactly":{"deviceClassName":"c"}},{"name":"b","exactly":{"deviceClassName":"c","allocationMode":"All"}},
		{"name":"c","firstAvailable":[{"name":"d","deviceClassName":"c","tolerations":[{"key":"k"}]}]}]`)),
		devices(`"requests":[{"name":"a","exactly":{"deviceClassName":"c","allocationMode":"ExactCount","count":1}},{"name":"b","exactly":{"deviceClassName":"c","allocationMode":"All"}},
		{"name":"c","firstAvailable":[{"name":"d","deviceClassName":"c","allocationMode":"ExactCount","count":1,"tolerations":[{"key":"k","operator":"Equal"}]}]}]`))
	const at, one = "spec.devices.requests", "exactly one of `exactly` or `firstAvailable` is required"
	const request = `"requests":[{"name":"a","exactly":{"deviceClassName":"c"}},{"name":"b","firstAvailable":[{"name":"x","deviceClassName":"c"}]}]`
	RunBodyCases(t, k, []BodyCase{
		{Body: devices(request + `,"constraints":[{"requests":["a","b/x"],"matchAttribute":"d.e/f"}],"config":[{"requests":["b"],"opaque":{"driver":"d","parameters":{}}}]`), Want: nil},
		{Body: devices(`"requests":[{},{"name":"A","exactly":{}},{"name":"b","exactly":{"deviceClassName":"c"},"firstAvailable":[{"name":"x","deviceClassName":"c"}]}]`), Want: []string{
			at + `[0].name: Required value`, at + `[1].exactly.deviceClassName: Required value`, at + `[0]: Required value: ` + one,
			at + `[1].name: Invalid value: "A": a lowercase RFC 1123 label…`, at + `[2]: Invalid value: null: ` + one + `, but multiple fields are set`}},
		{Body: devices(`"requests":[{"name":"a","exactly":{"deviceClassName":"c","count":-1}},{"name":"a","exactly":{"deviceClassName":"c","allocationMode":"All","count":2}},{"name":"b","exactly":{"deviceClassName":"c","allocationMode":"Some"}}]`), Want: []string{
			at + `[2].exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"`,
			at + `[0].exactly.count: Invalid value: -1: must be greater than zero`, at + `[1]: Duplicate value: "a"`,
			at + `[1].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'`}},
		{Body: devices(`"requests":[{"name":"a","exactly":{"deviceClassName":"c","selectors":[{}],"tolerations":[{},{"operator":"Exists","value":"v"}]}},{"name":"b","firstAvailable":[{"name":"x","deviceClassName":"c"},{"name":"x","deviceClassName":"c"}]}]`), Want: []string{
			at + `[0].exactly.selectors[0].cel: Required value`, at + "[0].exactly.tolerations[0].key: Required value: must not be empty unless operator is `Exists`",
			at + "[0].exactly.tolerations[1].value: Invalid value: \"v\": must be empty for operator `Exists`", at + `[1].firstAvailable[1]: Duplicate value: "x"`}},
		{Body: devices(request + `,"constraints":[{"requests":["z","a","a"],"matchAttribute":"f"},{}],"config":[{"requests":["b/z"]}]`), Want: []string{
			`spec.devices.constraints[0].requests[0]: Invalid value: "z": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'`,
			`spec.devices.constraints[0].requests[2]: Duplicate value: "a"`, `spec.devices.constraints[0].matchAttribute: Invalid value: "f": a fully qualified name must be a domain and a name separated by a slash`,
			`spec.devices.constraints[1].matchAttribute: Required value: must be set`, `spec.devices.config[0].requests[0]: Invalid value: "b/z": must be the name of…`,
			`spec.devices.config[0].opaque: Required value`}},
	})
	RunUpdateCases(t, k, []UpdateCase{
		{Old: devices(request), Now: devices(request), Want: nil},
		{Old: devices(request), Now: devices(`"requests":[]`), Want: []string{`spec: Invalid value: {"devices":{"requests":[]}}: field is immutable`}},
	})
	status := Named(k, Parse(t, `{"spec":{},"status":{"reservedFor":[{"resource":"pods","name":"p"}]}}`))
	status["metadata"].(tree.Tree)["uid"] = "u"
	Expect(t, "status", Update(k, Named(k, Parse(t, `{"spec":{}}`)), status), []string{`status.reservedFor[0].uid: Required value`,
		"status.reservedFor: Forbidden: may not be specified when `allocated` is not set"})
}

func TestResourceClaimTemplate(t *testing.T) {
	k := KindByGVK(t, meta.Platform, DeviceGroup, "v1", "ResourceClaimTemplate")
	template := func(metadata, requests string) string {
		return `{"spec":{"metadata":{` + metadata + `},"spec":{"devices":{"requests":[` + requests + `]}}}}`
	}
	EqualJSON(t, "defaults", Defaulted(t, k, template(``, `{"name":"a","exactly":{"deviceClassName":"c"}}`)),
		template(``, `{"name":"a","exactly":{"deviceClassName":"c","allocationMode":"ExactCount","count":1}}`))
	RunBodyCases(t, k, []BodyCase{{Body: template(`"labels":{"a b":"c"},"annotations":{"d e":"f"}`, `{"name":"a"}`), Want: []string{`spec.metadata.labels: Invalid value: "a b": name part…`,
		`spec.metadata.annotations: Invalid value: "d e": name part…`, "spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"}}})
	RunUpdateCases(t, k, []UpdateCase{{Old: template(``, ``), Now: template(`"labels":{"a":"b"}`, ``), Want: []string{`spec: Invalid value: {"metadata":{"labels":{"a":"b"}},"spec":{"devices":{"requests":[]}}}: field is immutable`}}})
}

func TestResourceSlice(t *testing.T) {
	k := KindByGVK(t, meta.Platform, DeviceGroup, "v1", "ResourceSlice")
	slice := func(text string) string {
		return `{"spec":{"driver":"d.e","pool":{"name":"a/b","resourceSliceCount":1}` + text + `}}`
	}
	const reach = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	RunBodyCases(t, k, []BodyCase{
		{Body: slice(`,"nodeName":"n","devices":[{"name":"a","attributes":{"x":{"int":1}},"capacity":{"m":{"value":"1Gi"}},"taints":[{"key":"a","effect":"NoSchedule"}]}]`), Want: nil},
		{Body: slice(`,"perDeviceNodeSelection":true,"devices":[{"name":"a","allNodes":true},{"name":"b"}]`), Want: []string{"spec.devices[1]: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes` is required"}},
		{Body: `{"spec":{"nodeName":"N","pool":{"generation":-1}}}`, Want: []string{`spec.driver: Required value`, `spec.pool.name: Required value`,
			`spec.pool.generation: Invalid value: -1: must be greater than or equal to 0`, `spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero`,
			`spec.nodeName: Invalid value: "N": a lowercase…`}},
		{Body: slice(``), Want: []string{`spec: Required value: ` + reach}},
		{Body: slice(`,"nodeName":"n","allNodes":true`), Want: []string{"spec: Invalid value: \"{`nodeName`, `allNodes`}\": " + reach + ", but multiple fields are set"}},
		{Body: slice(`,"nodeName":"n","allNodes":false`), Want: []string{`spec.allNodes: Invalid value: false: must be either unset or set to true`}},
		{Body: slice(`,"nodeSelector":{"nodeSelectorTerms":[{},{}]}`), Want: []string{`spec.nodeSelector.nodeSelectorTerms: Invalid value: [{},{}]: must have exactly one node selector term`}},
		{Body: slice(`,"nodeName":"n","devices":[{"name":"a"},{"name":"a"},{"name":"B"},{"name":"c","nodeName":"n"},{"name":"d","attributes":{"x":{},"y":{"int":1,"bool":true}},"taints":[{"key":"a b"}]}]`), Want: []string{
			`spec.devices[2].name: Invalid value: "B": a lowercase RFC 1123 label…`, `spec.devices[1].name: Duplicate value: "a"`,
			"spec.devices[3].nodeName: Invalid value: \"n\": must only be set when `perDeviceNodeSelection` is set",
			`spec.devices[4].attributes[x]: Required value: exactly one value must be specified`,
			`spec.devices[4].attributes[y]: Invalid value: {"bool":true,"int":1}: exactly one value must be specified`,
			`spec.devices[4].taints[0].key: Invalid value: "a b": name part…`, `spec.devices[4].taints[0].effect: Required value`}},
	})
	RunUpdateCases(t, k, []UpdateCase{
		{Old: slice(`,"nodeName":"n"`), Now: slice(`,"nodeName":"n","devices":[{"name":"a"}]`), Want: nil},
		{Old: slice(`,"nodeName":"n"`), Now: `{"spec":{"driver":"e","nodeName":"m","pool":{"name":"c","resourceSliceCount":2}}}`, Want: []string{`spec.driver: Invalid value: "e": field is immutable`,
			`spec.pool.name: Invalid value: "c": field is immutable`, `spec.nodeName: Invalid value: "m": field is immutable`}},
	})
}
