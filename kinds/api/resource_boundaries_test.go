package api_test

import (
	"strings"
	"testing"
)

func TestResourceValidObjects(t *testing.T) {
	ExpectValid(t, DeviceGroup, "v1", "ResourceSlice", `{"spec":{"driver":"d","nodeName":"n","pool":{"name":"`+strings.Repeat("a", 253)+`","resourceSliceCount":1},"devices":[{"name":"a","attributes":{`+RepeatItem(32, `"%":{"string":"`+strings.Repeat("s", 64)+`"}`)+`}}]}}`)
	ExpectValid(t, DeviceGroup, "v1", "ResourceClaim",
		`{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"c","tolerations":[{"operator":"Exists"}]}}],"constraints":[{"requests":["a"],"distinctAttribute":"d/e"}]}}}`)
}
