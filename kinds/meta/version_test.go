package meta_test

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestCompareVersions(t *testing.T) {
	want := []string{"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, meta.CompareVersions)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
