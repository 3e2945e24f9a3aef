package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestDeviceValidation(t *testing.T) {
	const at = "spec.devices.requests"
	devices := func(text string) string { return `{"spec":{"devices":{"requests":[` + text + `]}}}` }
	RunBodyCases(t, KindByGVK(t, meta.Platform, DeviceGroup, "v1", "ResourceClaim"), []BodyCase{
		{Body: devices(`{"name":"a","exactly":{"deviceClassName":"c","tolerations":[{"key":"a b"},{"key":"a","value":"b c"}]}}`), Want: []string{
			at + `[0].exactly.tolerations[0].key: Invalid value: "a b": name part…`, at + `[0].exactly.tolerations[1].value: Invalid value: "b c": a valid label…`}},
		{Body: devices(`{"name":"a","firstAvailable":[{"name":"x","deviceClassName":"c","count":-1}]}`), Want: []string{at + `[0].firstAvailable[0].count: Invalid value: -1: must be greater than zero`}}})
	slice := func(text string) string {
		return `{"spec":{"driver":"d.e","pool":{"name":"a","resourceSliceCount":1},` + text + `}}`
	}
	RunBodyCases(t, KindByGVK(t, meta.Platform, DeviceGroup, "v1", "ResourceSlice"), []BodyCase{
		{Body: slice(`"nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a b","operator":"Exists"}]}]}`), Want: []string{
			`spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": name part…`}},
		{Body: slice(`"nodeName":"n","devices":[{"name":"a","taints":[{"key":"a","value":"b c","effect":"None"}]}]`), Want: []string{`spec.devices[0].taints[0].value: Invalid value: "b c": a valid label…`}},
		{Body: slice(`"nodeName":"n","devices":[{"name":"a","attributes":{"v":{"version":""},"w":{"version":"1.2.3-a.1+b"},"x":{"version":"1.2"}}}]`), Want: []string{
			`spec.devices[0].attributes[v].version: Invalid value: "": must be a string compatible with semver.org spec 2.0.0`,
			`spec.devices[0].attributes[x].version: Invalid value: "1.2": must be a string compatible with semver.org spec 2.0.0`}},
		{Body: slice(`"nodeName":"n","devices":[{"name":"a","attributes":{"a-b":{"int":1},"/a":{"int":1},"A/b":{"int":1},"a.b/":{"int":1},"a.b/c":{"int":1}},"capacity":{"1":{"value":"1"}}}]`), Want: []string{
			`spec.devices[0].attributes: Invalid value: "": the domain must not be empty`, `spec.devices[0].attributes: Invalid value: "A": a lowercase…`,
			`spec.devices[0].attributes: Invalid value: "a-b": a valid C identifier…`, `spec.devices[0].attributes: Invalid value: "": the name must not be empty`,
			`spec.devices[0].capacity: Invalid value: "1": a valid C identifier…`}}})
}
