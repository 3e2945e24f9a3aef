package storage

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateAllowedTopologies checks the topology terms. Terms must be distinct, regardless of the
// order of their values. As in kube-apiserver, an empty term counts as a duplicate.
func validateAllowedTopologies(v any, path string, faults *schema.Faults) {
	var earlier []map[string][]string
	terms, _ := v.([]any)
	for i, v := range terms {
		term, _ := v.(tree.Tree)
		at := tree.IndexPath(path, i) + ".matchLabelExpressions"
		values := validateTopology(term, at, faults)
		isTwice := func(other map[string][]string) bool { return maps.EqualFunc(values, other, slices.Equal) }
		if len(values) == 0 || slices.ContainsFunc(earlier, isTwice) {
			faults.Duplicate(at, "")
		}
		earlier = append(earlier, values)
	}
}

// validateTopology checks one term and returns its sorted values by key. path is the path of the
// term's expressions.
func validateTopology(term tree.Tree, path string, faults *schema.Faults) map[string][]string {
	byKey := map[string][]string{}
	for i, e := range term.Objects("matchLabelExpressions") {
		at, key, values := tree.IndexPath(path, i), e.String("key"), e.Strings("values")
		if len(values) == 0 {
			faults.Required(at + ".values")
		}
		seen := map[string]bool{}
		for j, value := range values {
			if seen[value] {
				faults.Duplicate(tree.IndexPath(at+".values", j), value)
			}
			seen[value] = true
		}
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
		if _, twice := byKey[key]; twice {
			faults.Duplicate(at+".key", key)
		}
		byKey[key] = slices.Sorted(maps.Keys(seen))
	}
	return byKey
}
