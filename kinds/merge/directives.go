package merge

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// isDirectiveOf tells whether name is a directive and not a field of m: a schema has fields that begin
// with "$". Where there is no message, any name can be a key, and only those of directives are some.
func isDirectiveOf(m *schema.Message, name string) bool {
	if m == nil {
		return isDirective(name)
	}
	return strings.HasPrefix(name, "$") && fieldOf(m, name) == nil
}

// checkDirectives refuses unknown directives in one object. Ignoring a misspelled one would lose data.
//
// Only names that the message has no field for count: a definition's schema has fields such as $ref.
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

// checkDirectivesDeep is checkDirectives for an object that becomes part of the result as a whole, with
// all that it holds.
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

// checkItems is checkDirectivesDeep for the objects in a list.
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

// stripObjectDirectives is an object of a patch as a value: without nulls, without directives, and without
// objects that hold a $patch, since there is nothing to carry it out on.
//
// An example: of {"a":1,"b":null,"$retainKeys":["a"],"c":{"$patch":"delete"}} it leaves {"a":1}.
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

// isDirective tells whether name is one of the directives, which are never fields, unlike other names that
// begin with "$".
func isDirective(name string) bool {
	return name == patchDirective || name == retainDirective ||
		strings.HasPrefix(name, orderPrefix) || strings.HasPrefix(name, deletePrefix)
}

// stripDirectives is a value of a patch without directives and nulls.
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
