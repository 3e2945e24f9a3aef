package selector

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// FromLabelSelector converts a LabelSelector object with matchLabels and matchExpressions. An empty
// selector selects everything, so callers must handle fields in which it selects nothing. ok is
// false for an unknown operator. Validation reports other errors.
func FromLabelSelector(t tree.Tree) (l Labels, ok bool) {
	labels, _ := t["matchLabels"].(tree.Tree)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		value, _ := labels[key].(string)
		l.requirements = append(l.requirements, requirement{key: key, op: in, values: []string{value}})
	}
	expressions, _ := t["matchExpressions"].([]any)
	for _, e := range expressions {
		expression, _ := e.(tree.Tree)
		key, _ := expression["key"].(string)
		name, _ := expression["operator"].(string)
		op, known := operators[name]
		if !known {
			return Labels{}, false
		}
		r := requirement{key: key, op: op}
		values, _ := expression["values"].([]any)
		for _, v := range values {
			if s, text := v.(string); text {
				r.values = append(r.values, s)
			}
		}
		l.requirements = append(l.requirements, r)
	}
	return l, true
}

var operators = map[string]operator{"In": in, "NotIn": notIn, "Exists": exists, "DoesNotExist": doesNotExist}

// LabelsOf converts a map of labels, such as metadata.labels.
func LabelsOf(t tree.Tree) meta.Labels {
	labels := make(map[string]string, len(t))
	for key := range t {
		labels[key] = t.String(key)
	}
	return meta.NewLabels(labels)
}
