package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// scaleView returns the scale subresource of a kind. Reads convert the object to a Scale with the
// selector as a string. Writes change only the number of replicas.
func scaleView(s *schema.Scale) schema.View {
	return schema.View{
		Read: func(obj tree.Tree) tree.Tree {
			spec, status := tree.Tree{}, tree.Tree{}
			spec["replicas"] = int64At(obj, s.Replicas)
			status["replicas"] = int64At(obj, s.StatusReplicas)
			if s.Selector != "" {
				parent, name := fieldLocation(obj, s.Selector)
				text := parent.String(name) // custom kinds have a string selector
				if text == "" {
					text = selectorText(parent.Object(name))
				}
				if text != "" {
					status["selector"] = text
				}
			}
			// Omit managed fields: the scaled object, not the Scale, records the managers of
			// replicas.
			return tree.Tree{"metadata": scaleMetadata(obj.Object("metadata")), "spec": spec, "status": status}
		},
		Write: func(obj, body tree.Tree, _ string, _ *schema.Faults) error {
			replicas, _ := body.Object("spec").Int("replicas")
			path := strings.Split(s.Replicas, ".")
			obj.EnsureObject(path[:len(path)-1]...)[path[len(path)-1]] = replicas
			return nil
		},
	}
}

// validatedScaleView is scaleView for built-in kinds. It reports a negative number of replicas as
// an error in the Scale. For custom kinds, object validation reports the error.
func validatedScaleView(s *schema.Scale) schema.View {
	v := scaleView(s)
	write := v.Write
	v.Write = func(obj, body tree.Tree, now string, faults *schema.Faults) error {
		if n, _ := body.Object("spec").Int("replicas"); n < 0 {
			faults.Invalid("spec.replicas", n, "must be greater than or equal to 0")
			return nil
		}
		return write(obj, body, now, faults)
	}
	return v
}

func fieldLocation(obj tree.Tree, path string) (parent tree.Tree, name string) {
	names := strings.Split(path, ".")
	return obj.Object(names[:len(names)-1]...), names[len(names)-1]
}

func int64At(obj tree.Tree, path string) int64 {
	parent, name := fieldLocation(obj, path)
	n, _ := parent.Int(name)
	return n
}

func scaleMetadata(m tree.Tree) tree.Tree {
	out := tree.Tree{}
	for _, name := range []string{"name", "namespace", "uid", "creationTimestamp"} {
		out.CopyField(m, name)
	}
	return out
}

func selectorText(s tree.Tree) string {
	labels := s
	if s.Has("matchLabels") || s.Has("matchExpressions") {
		labels = s.Object("matchLabels")
	}
	var terms []string
	for _, key := range labels.SortedKeys() {
		if value, ok := labels[key].(string); ok {
			terms = append(terms, key+"="+value)
		}
	}
	for _, e := range s.Objects("matchExpressions") {
		key, values := e.String("key"), slices.Sorted(slices.Values(e.Strings("values")))
		switch e.String("operator") {
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

func requirementKey(term string) string {
	key, _, _ := strings.Cut(strings.TrimPrefix(term, "!"), " ")
	key, _, _ = strings.Cut(key, "=")
	return key
}
