package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestRBACBoundaries(t *testing.T) {
	const urls = "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: rules cannot apply to both regular resources and non-resource URLs"
	RunValidationCases(t, KindInGroup(t, meta.Platform, "rbac.authorization.platform.io", "ClusterRole"), []ValidationCase{
		{Obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"],"apiGroups":["a"]}]}`, Want: []string{urls}},
		{Obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"],"resourceNames":["a"]}]}`, Want: []string{urls}},
	})
}
