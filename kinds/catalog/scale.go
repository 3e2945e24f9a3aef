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
			spec["replicas"] = wholeAt(obj, s.Replicas)
			status["replicas"] = wholeAt(obj, s.StatusReplicas)
			if s.Selector != "" {
				parent, name := place(obj, s.Selector)
				text := rules.Text(parent, name) // as custom kinds have it
				if text == "" {
					text = selectorText(rules.Sub(parent, name))
				}
				if text != "" {
					status["selector"] = text
				}
			}
			// Who owns the replicas is told by the object, not by its scale.
			return schema.Tree{"metadata": scaleMetadata(rules.Sub(obj, "metadata")), "spec": spec, "status": status}
		},
		Write: func(obj, body schema.Tree, _ string, faults *schema.Faults) error {
			replicas, _ := rules.Int(rules.Sub(body, "spec"), "replicas")
			if replicas < 0 {
				faults.Invalid("spec.replicas", replicas, "must be greater than or equal to 0")
				return nil
			}
			path := strings.Split(s.Replicas, ".")
			rules.Grow(obj, path[:len(path)-1]...)[path[len(path)-1]] = replicas
			return nil
		},
	}
}

// place splits a dotted path into the object that holds its last name, and that name.
func place(obj schema.Tree, path string) (parent schema.Tree, name string) {
	names := strings.Split(path, ".")
	return rules.Sub(obj, names[:len(names)-1]...), names[len(names)-1]
}

// wholeAt is the whole number at a dotted path; 0 if there is none.
func wholeAt(obj schema.Tree, path string) int64 {
	n, _ := rules.Int(place(obj, path))
	return n
}

// scaleMetadata is the metadata that a scale shares with its object.
func scaleMetadata(m schema.Tree) schema.Tree {
	out := schema.Tree{}
	for _, name := range []string{"name", "namespace", "uid", "creationTimestamp"} {
		rules.Carry(out, m, name)
	}
	return out
}

// selectorText is a label selector, or a plain map of labels, in the text form of selectors.
func selectorText(s schema.Tree) string {
	labels := s
	if rules.Has(s, "matchLabels") || rules.Has(s, "matchExpressions") {
		labels = rules.Sub(s, "matchLabels")
	}
	var terms []string
	for _, key := range rules.Keys(labels) {
		if value, ok := labels[key].(string); ok {
			terms = append(terms, key+"="+value)
		}
	}
	for _, e := range rules.Trees(s, "matchExpressions") {
		key, values := rules.Text(e, "key"), slices.Sorted(slices.Values(rules.Texts(e, "values")))
		switch rules.Text(e, "operator") {
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
	slices.SortStableFunc(terms, func(a, b string) int { return strings.Compare(bareKey(a), bareKey(b)) })
	return strings.Join(terms, ",")
}

// bareKey is the key that a term of a selector begins with.
func bareKey(term string) string {
	key, _, _ := strings.Cut(strings.TrimPrefix(term, "!"), " ")
	key, _, _ = strings.Cut(key, "=")
	return key
}
