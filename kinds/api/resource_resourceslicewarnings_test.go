package api_test

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestResourceSliceWarnings(t *testing.T) {
	k := KindInGroup(t, meta.Platform, DeviceGroup, "ResourceSlice")
	for driver, want := range map[string][]string{
		"a.example": nil,
		"A.example": {`spec.driver: driver names should be lowercase; "A.example" contains uppercase characters`},
	} {
		if got := rules.Warnings(k, Parse(t, `{"spec":{"driver":"`+driver+`"}}`), nil); !slices.Equal(got, want) {
			t.Errorf("%s: %q", driver, got)
		}
	}
}
