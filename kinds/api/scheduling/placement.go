package scheduling

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

const (
	requiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

// MergeLabelKeys adds labels of a new Pod to the selectors of its affinity terms and spread
// constraints. matchLabelKeys and mismatchLabelKeys list the label keys, but schedulers read
// only the selectors.
func MergeLabelKeys(spec, labels tree.Tree) {
	for _, c := range spec.Objects("topologySpreadConstraints") {
		mergeKeys(c, labels)
	}
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		affinity := spec.Object("affinity", name)
		for _, term := range affinity.Objects(requiredTerms) {
			mergeKeys(term, labels)
		}
		for _, p := range affinity.Objects(preferredTerms) {
			mergeKeys(p.Object("podAffinityTerm"), labels)
		}
	}
}

func mergeKeys(term, labels tree.Tree) {
	selector := term.Object("labelSelector")
	if selector == nil {
		return
	}
	for _, list := range []struct{ keys, operator string }{{"matchLabelKeys", "In"}, {"mismatchLabelKeys", "NotIn"}} {
		for _, key := range term.Strings(list.keys) {
			if value, ok := labels[key].(string); ok {
				selector["matchExpressions"] = append(slices.Clip(selector.List("matchExpressions")),
					tree.Tree{"key": key, "operator": list.operator, "values": []any{value}})
			}
		}
	}
}
