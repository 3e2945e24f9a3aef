package merge

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const (
	patchDirective  = "$patch"      // replace, delete or merge, for the object that contains it
	retainDirective = "$retainKeys" // the only fields that the object keeps
	orderPrefix     = "$setElementOrder/"
	deletePrefix    = "$deleteFromPrimitiveList/"

	patchReplace = "replace"
	patchDelete  = "delete"
	patchMerge   = "merge"
)

// Strategic applies a strategic merge patch with the strategies and merge keys of m. It does not
// change its arguments. A malformed or unknown directive fails with code 400, and too many merges
// into long lists fail with 413. Custom kinds do not support such patches, because they declare no
// strategies.
//
// For a Pod whose containers are merged by name:
//
//	{"spec":{"containers":[{"name":"a","image":"new"}]}}           changes one image
//	{"spec":{"containers":[{"name":"a","$patch":"delete"}]}}       removes a container
//	{"spec":{"containers":[{"$patch":"replace"},{"name":"b"}]}}    leaves only b
func Strategic(m *schema.Message, current, patch tree.Tree) (tree.Tree, error) {
	g := strategic{work: maxMergeWork}
	out, err := g.mergeObject(m, current, patch)
	if err != nil {
		return nil, err
	}
	return out, nil
}

type strategic struct {
	work int // remaining object members and list items that may be visited
}

// maxMergeWork limits the object members and list items that one patch visits. Objects are smaller,
// but a patch may repeat an item ten thousand times, and each time visits all of its lists.
const maxMergeWork = 2 << 20

func (g *strategic) spend(n int) error {
	if g.work -= n; g.work < 0 {
		return newTooLarge("a strategic merge patch may not be merged into more than %d items", maxMergeWork)
	}
	return nil
}

// mergeObject merges a patch into an object. m is nil for maps and for values without a plan, where
// objects are merged and lists are replaced. If nothing changes, the result is current itself.
//
// A $patch directive overrides everything else. Otherwise, $retainKeys removes fields first. Then
// fields are merged, and list directives are applied to the merged lists.
func (g *strategic) mergeObject(m *schema.Message, current, patch tree.Tree) (tree.Tree, error) {
	if err := checkDirectives(m, patch); err != nil {
		return nil, err
	}
	if err := g.spend(len(current)); err != nil {
		return nil, err
	}
	switch patch[patchDirective] {
	case patchReplace:
		return stripObjectDirectives(patch), nil
	case patchDelete:
		return tree.Tree{}, nil
	}
	out, err := retainKeys(current, patch)
	if err != nil {
		return nil, err
	}
	for name, v := range patch {
		if isDirectiveOf(m, name) {
			continue
		}
		old, had := current[name]
		if out != nil {
			old, had = out[name]
		}
		next, keep, err := g.mergeField(m, name, old, v)
		switch {
		case err != nil:
			return nil, err
		case !keep && had:
			out = cloneOnce(out, current)
			delete(out, name)
		case keep && !(had && tree.SameRef(old, next)):
			out = cloneOnce(out, current)
			out[name] = next
		}
	}
	return g.mergeLists(m, current, out, patch)
}

// mergeField returns the new value of one field. keep is false if the field is removed. If the old
// value is not an object, an object in the patch replaces it. If that object has a $patch, the
// field is removed instead, because there is no object for the $patch to change.
func (g *strategic) mergeField(m *schema.Message, name string, old, v any) (next any, keep bool, err error) {
	if v == nil {
		return nil, false, nil
	}
	f := fieldOf(m, name)
	switch v := v.(type) {
	case tree.Tree:
		if o, ok := old.(tree.Tree); ok && !hasStrategy(f, patchReplace) {
			next, err := g.mergeObject(objectOf(f), o, v)
			return next, true, err
		}
		if err := checkDirectivesDeep(objectOf(f), v); err != nil {
			return nil, false, err
		}
		return stripObjectDirectives(v), v[patchDirective] == nil, nil
	case []any:
		o, _ := old.([]any)
		next, err := g.mergeList(f, o, v)
		return next, true, err
	}
	return v, true, nil
}

// mergeLists applies list directives, such as "$setElementOrder/containers", deletions first. The
// patch need not contain the list itself.
func (g *strategic) mergeLists(m *schema.Message, current, out, patch tree.Tree) (tree.Tree, error) {
	for name, v := range patch {
		field, ok := strings.CutPrefix(name, deletePrefix)
		if !ok || !isDirectiveOf(m, name) {
			continue
		}
		gone, err := primitiveSet(v)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = cloneOnce(nil, current)
		}
		if old, ok := out[field].([]any); ok {
			if err := g.spend(len(old)); err != nil {
				return nil, err
			}
			out[field] = withoutPrimitives(old, gone)
		}
	}
	for name, v := range patch {
		field, ok := strings.CutPrefix(name, orderPrefix)
		if !ok || !isDirectiveOf(m, name) {
			continue
		}
		if out == nil {
			out = cloneOnce(nil, current)
		}
		if err := g.setElementOrder(fieldOf(m, field), field, v, current, out, patch); err != nil {
			return nil, err
		}
	}
	if out == nil {
		return current, nil
	}
	return out, nil
}

// retainKeys applies a $retainKeys directive, which removes all fields of current that it does not
// list, such as other members of a union. The result is nil if current does not change. A patch
// must retain every field that it sets.
func retainKeys(current, patch tree.Tree) (tree.Tree, error) {
	v, ok := patch[retainDirective]
	if !ok {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, newBadPatch("invalid patch format of retainKeys")
	}
	keep := make(map[any]bool, len(list))
	for _, name := range list {
		keep[itemKey(name, "")] = true
	}
	for name, w := range patch {
		if w != nil && !isDirective(name) && !keep[name] {
			return nil, newBadPatch("invalid patch format of retainKeys")
		}
	}
	var out tree.Tree
	for name := range current {
		if !keep[name] {
			out = cloneOnce(out, current)
			delete(out, name)
		}
	}
	return out, nil
}

func fieldOf(m *schema.Message, name string) *schema.Field {
	if m == nil {
		return nil
	}
	return m.Field(name)
}

// objectOf returns the message of the objects in a field, or nil for a map, which has keys instead
// of fields.
func objectOf(f *schema.Field) *schema.Message {
	if f == nil || f.Shape == schema.Map {
		return nil
	}
	return f.Message
}

func hasStrategy(f *schema.Field, s string) bool {
	return f != nil && slices.Contains(f.MergeStrategies, s)
}
