package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// scaleView shows the replicas of an object, and the selector of its Pods as text.
func scaleView(s *schema.Scale) schema.View {
	return schema.View{
		Read: func(obj schema.Tree) schema.Tree {
			spec, status := schema.Tree{}, schema.Tree{}
			spec["replicas"] = int64At(obj, s.Replicas)
			status["replicas"] = int64At(obj, s.StatusReplicas)
			if s.Selector != "" {
				parent, name := fieldLocation(obj, s.Selector)
				text := rules.String(parent, name) // as custom kinds have it
				if text == "" {
					text = selectorText(rules.Nested(parent, name))
				}
				if text != "" {
					status["selector"] = text
				}
			}
			// Who owns the replicas is told by the object, not by its scale.
			return schema.Tree{"metadata": scaleMetadata(rules.Nested(obj, "metadata")), "spec": spec, "status": status}
		},
		Write: func(obj, body schema.Tree, _ string, faults *schema.Faults) error {
			replicas, _ := rules.Int(rules.Nested(body, "spec"), "replicas")
			if replicas < 0 {
				faults.Invalid("spec.replicas", replicas, "must be greater than or equal to 0")
				return nil
			}
			path := strings.Split(s.Replicas, ".")
			rules.EnsureNested(obj, path[:len(path)-1]...)[path[len(path)-1]] = replicas
			return nil
		},
	}
}

// fieldLocation splits a dotted path into the object that holds its last name, and that name.
func fieldLocation(obj schema.Tree, path string) (parent schema.Tree, name string) {
	names := strings.Split(path, ".")
	return rules.Nested(obj, names[:len(names)-1]...), names[len(names)-1]
}

// int64At is the whole number at a dotted path; 0 if there is none.
func int64At(obj schema.Tree, path string) int64 {
	n, _ := rules.Int(fieldLocation(obj, path))
	return n
}

// scaleMetadata is the metadata that a scale shares with its object.
func scaleMetadata(m schema.Tree) schema.Tree {
	out := schema.Tree{}
	for _, name := range []string{"name", "namespace", "uid", "creationTimestamp"} {
		rules.CopyField(out, m, name)
	}
	return out
}

// selectorText is a label selector, or a plain map of labels, in the text form of selectors.
func selectorText(s schema.Tree) string {
	labels := s
	if rules.Has(s, "matchLabels") || rules.Has(s, "matchExpressions") {
		labels = rules.Nested(s, "matchLabels")
	}
	var terms []string
	for _, key := range rules.Keys(labels) {
		if value, ok := labels[key].(string); ok {
			terms = append(terms, key+"="+value)
		}
	}
	for _, e := range rules.Trees(s, "matchExpressions") {
		key, values := rules.String(e, "key"), slices.Sorted(slices.Values(rules.Strings(e, "values")))
		switch rules.String(e, "operator") {
		case "In":
			terms = append(terms, fmt.Sprintf("%s in (%s)", key, strings.Join(values, ",")))
		case "NotIn":
			terms = append(terms, fmt.Sprintf("%s notin (%s)", key, strings.Join(values, ",")))
		case "Exists":
			terms = append(terms, key)
		case "DoesNotExist":
			terms = append(terms, "!"+key)
		}
	}
	slices.SortStableFunc(terms, func(a, b string) int { return strings.Compare(requirementKey(a), requirementKey(b)) })
	return strings.Join(terms, ",")
}

// requirementKey is the key that a term of a selector begins with.
func requirementKey(term string) string {
	key, _, _ := strings.Cut(strings.TrimPrefix(term, "!"), " ")
	key, _, _ = strings.Cut(key, "=")
	return key
}
