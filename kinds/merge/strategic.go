package merge

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The directives of strategic merge patches.
const (
	patchDirective  = "$patch"      // replace, delete or merge, for the object that holds it
	retainDirective = "$retainKeys" // the only fields that the object keeps
	orderPrefix     = "$setElementOrder/"
	deletePrefix    = "$deleteFromPrimitiveList/"

	patchReplace = "replace"
	patchDelete  = "delete"
	patchMerge   = "merge"
)

// Strategic applies a strategic merge patch: objects merge field by field, lists by the strategies and
// merge keys of the plan m, and the directives in the patch are carried out. A malformed or unknown
// directive is 400. Neither tree is changed.
//
// For a Pod whose containers are merged by name:
//
//	{"spec":{"containers":[{"name":"a","image":"new"}]}}           changes one image
//	{"spec":{"containers":[{"name":"a","$patch":"delete"}]}}       removes a container
//	{"spec":{"containers":[{"$patch":"replace"},{"name":"b"}]}}    leaves only b
//
// A patch that merges into the same long lists over and over is 413.
//
// Custom kinds declare no strategies, so they have no strategic merge patch.
func Strategic(m *schema.Message, current, patch tree.Tree) (tree.Tree, error) {
	g := strategic{work: maxMergeWork}
	out, err := g.mergeObject(m, current, patch)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// A strategic carries out one strategic merge patch.
type strategic struct {
	work int // members of objects and items of lists that may still be walked to be merged into
}

// maxMergeWork is how many members of objects and items of lists one patch may be merged into. All that an object holds are fewer; but a
// patch may name one item ten thousand times, and each of them is merged into the lists that the item has.
const maxMergeWork = 2 << 20

// spend notes that n members or items are walked.
func (g *strategic) spend(n int) error {
	if g.work -= n; g.work < 0 {
		return newTooLarge("a strategic merge patch may not be merged into more than %d items", maxMergeWork)
	}
	return nil
}

// mergeObject merges a patch into an object. m is nil for maps and for values without a plan: objects in
// them are merged, lists replaced. The result is current itself if nothing has changed. The directives of
// the object come first: $patch decides alone, $retainKeys makes room, then the fields are merged, and then
// come the directives beside lists, which need the merged lists.
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

// mergeField is the new value of one field; keep is false if the field is removed.
//
// A patch that is an object where the live value is none becomes the value, without the directives in it. If
// it has a $patch itself, there is nothing to carry that out on, and the field is removed.
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

// mergeLists carries out the directives that are fields beside a list: deletions first, then order.
//
// Each directive is named after its list, as in "$setElementOrder/containers", and stands beside it: the
// list itself may be missing in the patch.
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

// retainKeys carries out $retainKeys: it removes from current all fields that the directive does not name.
// The result is nil if current stays as it is.
//
// It is how a strategy is changed in one patch: of a union only the members that are named stay. A patch
// that gives a field a value without retaining it contradicts itself and is refused.
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

// fieldOf is the field of this name; nil without a plan.
func fieldOf(m *schema.Message, name string) *schema.Field {
	if m == nil {
		return nil
	}
	return m.Field(name)
}

// objectOf is the plan of the objects in a field. Those of a map have none: their fields are keys.
func objectOf(f *schema.Field) *schema.Message {
	if f == nil || f.Shape == schema.Map {
		return nil
	}
	return f.Message
}

// hasStrategy tells whether the kind declares a patch strategy for a field.
func hasStrategy(f *schema.Field, s string) bool {
	return f != nil && slices.Contains(f.MergeStrategies, s)
}
