package crd

import (
	"fmt"
	"math"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateScale validates the fields of the scale subresource, regardless of the schema. It skips
// unchanged values, so that the status of an invalid object can still be written.
func validateScale(s *schema.Scale, obj, old tree.Tree, faults *schema.Faults) {
	for _, path := range []string{s.Replicas, s.StatusReplicas} {
		value, why := valueAt(obj, path, "int64")
		n, _ := value.(int64)
		switch {
		case why == "" && n < 0:
			why = "should be a non-negative integer"
		case why == "" && n > math.MaxInt32:
			why = fmt.Sprintf("should be less than or equal to %d", math.MaxInt32)
		}
		if why != "" && changedAt(obj, old, path) {
			faults.Invalid("."+path, n, why)
		}
	}
	if s.Selector == "" {
		return
	}
	if _, why := valueAt(obj, s.Selector, "string"); why != "" && changedAt(obj, old, s.Selector) {
		faults.Invalid("."+s.Selector, "", why)
	}
}

// valueAt returns the value at a dotted path, or nil. why is kube-apiserver's error message for a
// value that does not have the type want.
func valueAt(obj tree.Tree, path, want string) (value any, why string) {
	names := strings.Split(path, ".")
	value = obj
	for i, name := range names {
		object, ok := value.(tree.Tree)
		if !ok {
			return nil, accessorFault(names[:i], value, "map[string]interface {}")
		}
		if value = object[name]; value == nil {
			return nil, ""
		}
	}
	if typeName(value) != want {
		return nil, accessorFault(names, value, want)
	}
	return value, ""
}

func accessorFault(names []string, value any, want string) string {
	return fmt.Sprintf(".%s accessor error: %v is of the type %s, expected %s", strings.Join(names, "."), value, typeName(value), want)
}

func typeName(value any) string {
	if _, ok := value.(tree.Tree); ok {
		return "map[string]interface {}"
	}
	return fmt.Sprintf("%T", value)
}

func changedAt(obj, old tree.Tree, path string) bool {
	names := strings.Split(path, ".")
	at := func(t tree.Tree) any {
		for _, name := range names[:len(names)-1] {
			next, ok := t[name].(tree.Tree)
			if !ok {
				return t[name]
			}
			t = next
		}
		return t[names[len(names)-1]]
	}
	return old == nil || !tree.SemanticEqual(at(obj), at(old))
}
