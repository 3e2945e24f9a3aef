package managedfields

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A difference contains the paths that were added or changed between two trees, and the removed
// paths. For example, from {"a":1,"b":1} to {"b":2,"c":1}, b and c are changed, and a is removed.
// Removing an object or list removes all paths below it.
type difference struct{ changed, removed Set }

// A membership is a node without its path element. member is true if the set contains the path
// itself. below contains the paths below it.
type membership struct {
	member bool
	below  Set
}

func (p membership) exists() bool { return p.member || !p.below.Empty() }

// A comparer compares two trees of the same API version. It skips shared subtrees, so its cost
// depends only on the changes.
type comparer struct {
	excluded excludedFields
	// asEncoded compares both trees in encoded form, with EmitEmpty fields and without empty fields
	// that the encoder omits. Updates set it, because clients read encoded objects. Applies do not,
	// because the applier also owns empty values.
	asEncoded bool
}

func (c comparer) compare(m *schema.Message, before, after tree.Tree) difference {
	var changed, removed builder
	for _, f := range fieldsOf(m, before, after) {
		x, y := before[f.Name], after[f.Name]
		if c.excluded.excludesField(f.Name) || tree.SameRef(x, y) {
			continue
		}
		var new, old membership
		if f.Name == "metadata" {
			was, _ := x.(tree.Tree)
			is, _ := y.(tree.Tree)
			// No set contains metadata itself, because every object has it.
			d := c.fields(f.Message, was, is, c.excluded.excludesMetadata)
			old.below, new.below = d.removed, d.changed
		} else {
			x, y = c.encodedValues(f, x, y)
			old, new = c.value(f, false, x, y)
		}
		changed.add(fieldElement(f.Name), new.member, new.below)
		removed.add(fieldElement(f.Name), old.member, old.below)
	}
	return difference{changed.set(), removed.set()}
}

func (c comparer) fields(m *schema.Message, before, after tree.Tree, out func(name string) bool) difference {
	var changed, removed builder
	for _, f := range fieldsOf(m, before, after) {
		if out != nil && out(f.Name) {
			continue
		}
		x, y := before[f.Name], after[f.Name]
		if x == nil && y == nil && !(c.asEncoded && f.EmitEmpty) || tree.SameRef(x, y) && x != nil {
			continue
		}
		x, y = c.encodedValues(f, x, y)
		old, new := c.value(f, false, x, y)
		changed.add(fieldElement(f.Name), new.member, new.below)
		removed.add(fieldElement(f.Name), old.member, old.below)
	}
	return difference{changed.set(), removed.set()}
}

// value compares two values of a field or element, where nil means absent. The difference contains
// a composite value's own path only if the value is added or removed.
func (c comparer) value(f *schema.Field, element bool, before, after any) (old, new membership) {
	granularity := granularityOf(f, element)
	switch {
	case before == nil && after == nil || tree.SameRef(before, after):
		return old, new
	case granularity == atomic || c.isEmpty(f, granularity, before) && c.isEmpty(f, granularity, after):
		return compareLeaf(f, element, before, after)
	case isLeaf(granularity, before) || isLeaf(granularity, after):
		return c.valueOrParts(f, element, before, after)
	}
	d := c.parts(f, granularity, before, after)
	return membership{after == nil, d.removed}, membership{before == nil, d.changed}
}

// isLeaf reports whether a value has no children. Custom objects are compared before validation, so
// a value may have the wrong type.
func isLeaf(granularity granularity, v any) bool { return isScalar(v) || wrongType(granularity, v) }

// valueOrParts compares two values, at most one of them composite. The children of a composite
// value are added or removed together with it.
func (c comparer) valueOrParts(f *schema.Field, element bool, before, after any) (old, new membership) {
	granularity := granularityOf(f, element)
	old, new = compareLeaf(f, element, before, after)
	if before != nil && !isLeaf(granularity, before) {
		old.below = c.parts(f, granularity, before, nil).removed
	}
	if after != nil && !isLeaf(granularity, after) {
		new.below = c.parts(f, granularity, nil, after).changed
	}
	return old, new
}

func compareLeaf(f *schema.Field, element bool, before, after any) (old, new membership) {
	switch {
	case before == nil:
		new.member = true
	case after == nil:
		old.member = true
	default:
		new.member = !equalEncoded(f, element, before, after)
	}
	return old, new
}

func (c comparer) isEmpty(f *schema.Field, granularity granularity, v any) bool {
	switch v := v.(type) {
	case tree.Tree:
		return len(v) == 0 && !(c.asEncoded && granularity == byField && hasEmitEmpty(f.Message))
	case []any:
		return len(v) == 0
	}
	return v == nil || v == null{} || v == emptied{}
}

func hasEmitEmpty(m *schema.Message) bool {
	return slices.ContainsFunc(m.Fields, func(f *schema.Field) bool { return f.EmitEmpty })
}

func isScalar(v any) bool {
	switch v.(type) {
	case tree.Tree, []any, null, emptied, nil:
		return false
	}
	return true
}

func (c comparer) parts(f *schema.Field, granularity granularity, before, after any) difference {
	x, _ := before.(tree.Tree)
	y, _ := after.(tree.Tree)
	switch granularity {
	case byField:
		return c.fieldsOf(f.Message, before, after, x, y)
	case byItem:
		return c.items(f, before, after)
	}
	var changed, removed builder
	for _, key := range keysOfBoth(x, y) {
		old, new := c.value(f, true, x[key], y[key])
		changed.add(fieldElement(key), new.member, new.below)
		removed.add(fieldElement(key), old.member, old.below)
	}
	return difference{changed.set(), removed.set()}
}

// fieldsOf compares two messages. If one is nil (absent), the other is added or removed as a whole.
// Removing a message removes all of its encoded fields.
func (c comparer) fieldsOf(m *schema.Message, before, after any, x, y tree.Tree) difference {
	if before != nil && after != nil {
		return c.fields(m, x, y, nil)
	}
	there, asEncoded := y, c.asEncoded
	if after == nil {
		there, asEncoded = x, true
	}
	var b builder
	for _, f := range fieldsOf(m, there, nil) {
		v := there[f.Name]
		if asEncoded {
			v = encodedValue(f, v)
		}
		if v != nil {
			old, new := c.value(f, false, valueIf(after == nil, v), valueIf(before == nil, v))
			b.add(fieldElement(f.Name), old.member || new.member, Union(old.below, new.below))
		}
	}
	if before == nil {
		return difference{changed: b.set()}
	}
	return difference{removed: b.set()}
}

func valueIf(is bool, v any) any {
	if is {
		return v
	}
	return nil
}

func keysOfBoth(x, y tree.Tree) []string {
	keys := x.SortedKeys()
	for key := range y {
		if _, ok := x[key]; !ok {
			keys = append(keys, key)
		}
	}
	return keys
}
