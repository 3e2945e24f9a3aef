package webhook

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

var reviewVersions = []string{"v1", "v1beta1"}

// ValidateReviewVersions requires at least one version that this server can send. Other versions
// may be unknown.
func ValidateReviewVersions(versions []string, path string, faults *schema.Faults) {
	if len(versions) == 0 {
		faults.Required(path, "must specify one of "+strings.Join(reviewVersions, ", "))
		return
	}
	known, seen := false, rules.Seen{}
	for i, v := range versions {
		if seen.Repeats(v) {
			faults.Invalid(tree.IndexPath(path, i), v, "duplicate version")
		}
		for _, msg := range rules.Label1035(v) {
			faults.Invalid(tree.IndexPath(path, i), v, msg)
		}
		known = known || slices.Contains(reviewVersions, v)
	}
	if !known {
		faults.Invalid(path, versions, "must include at least one of "+strings.Join(reviewVersions, ", "))
	}
}

// CheckReviewVersions adapts ValidateReviewVersions to a schema.CheckFunc.
func CheckReviewVersions(v any, path string, faults *schema.Faults) {
	ValidateReviewVersions(tree.Tree{"": v}.Strings(""), path, faults)
}
