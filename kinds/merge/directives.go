package merge

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// isDirectiveOf reports whether name is a directive. A field of m is not a directive even if its
// name begins with "$", such as $ref in a schema. If m is nil, any name may be a map key, so only
// known directives count.
func isDirectiveOf(m *schema.Message, name string) bool {
	if m == nil {
		return isDirective(name)
	}
	return strings.HasPrefix(name, "$") && fieldOf(m, name) == nil
}

// checkDirectives rejects unknown directives, because ignoring a misspelled directive could lose
// data.
func checkDirectives(m *schema.Message, patch tree.Tree) error {
	for name, v := range patch {
		switch {
		case !isDirectiveOf(m, name):
		case name == patchDirective:
			if v != patchReplace && v != patchDelete && v != patchMerge {
				return newBadPatch("unknown patch type '%v' in map", v)
			}
		case name == retainDirective:
		case strings.HasPrefix(name, orderPrefix) && len(name) > len(orderPrefix):
		case strings.HasPrefix(name, deletePrefix) && len(name) > len(deletePrefix):
		default:
			return newBadPatch("unknown patch directive %q", name)
		}
	}
	return nil
}

// checkDirectivesDeep checks the directives at all levels of an object that is inserted as a whole.
func checkDirectivesDeep(m *schema.Message, patch tree.Tree) error {
	if err := checkDirectives(m, patch); err != nil {
		return err
	}
	for name, v := range patch {
		if isDirectiveOf(m, name) {
			continue
		}
		inner := objectOf(fieldOf(m, name))
		var err error
		switch v := v.(type) {
		case tree.Tree:
			err = checkDirectivesDeep(inner, v)
		case []any:
			err = checkItems(inner, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkItems(m *schema.Message, items []any) error {
	for _, item := range items {
		if o, ok := item.(tree.Tree); ok {
			if err := checkDirectivesDeep(m, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// stripObjectDirectives returns a patch object without nulls and directives. It also omits nested
// objects with a $patch, because they have no existing object to change. For example,
// {"a":1,"b":null,"$retainKeys":["a"],"c":{"$patch":"delete"}} becomes {"a":1}.
func stripObjectDirectives(patch tree.Tree) tree.Tree {
	out := make(tree.Tree, len(patch))
	for name, v := range patch {
		if v == nil || isDirective(name) {
			continue
		}
		if o, ok := v.(tree.Tree); ok && o[patchDirective] != nil {
			continue
		}
		out[name] = stripDirectives(v)
	}
	return out
}

func isDirective(name string) bool {
	return name == patchDirective || name == retainDirective ||
		strings.HasPrefix(name, orderPrefix) || strings.HasPrefix(name, deletePrefix)
}

func stripDirectives(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		return stripObjectDirectives(v)
	case []any:
		out := make([]any, 0, len(v))
		for _, w := range v {
			if o, ok := w.(tree.Tree); ok && o[patchDirective] != nil {
				continue
			}
			out = append(out, stripDirectives(w))
		}
		return out
	}
	return v
}
