package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestCoordinationBoundaries(t *testing.T) {
	RunCreateCases(t, KindByGVK(t, meta.Platform, "coordination.platform.io", "v1", "Lease"), ``, []CreateCase{
		{Name: "strategy", Spec: `"strategy":"a b/c"`, Want: []string{`spec.strategy: Invalid value: "a b/c": prefix part a lowercase RFC 1123 subdomain…`}}})
}
