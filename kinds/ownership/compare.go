package ownership

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A difference is what has changed from one tree to another: the paths that were added or
// have another value now, and those that are gone.
type difference struct{ changed, removed Set }

// membership is what a set holds at and below a place.
type membership struct {
	member bool
	below  Set
}

// exists tells whether the set holds anything there.
func (p membership) exists() bool { return p.member || !p.below.Empty() }

// A comparison compares two trees. With fill, both are taken as they are written: fields that
// are always written are there, and those that are left out when they are empty are not.
type comparer struct {
	excluded  excludedFields
	asEncoded bool
}

// compare is the difference between two objects of message m.
func (c comparer) compare(m *schema.Message, before, after tree.Tree) difference {
	var changed, removed builder
	for _, f := range fieldsOf(m, before, after) {
		x, y := before[f.Name], after[f.Name]
		if c.excluded.excludesField(f.Name) || tree.SameRef(x, y) {
			continue
		}
		var new, old membership
		if f.Name == "metadata" {
			old, new = c.metadata(f.Message, x, y)
		} else {
			x, y = c.encodedValues(f, x, y)
			old, new = c.value(f, false, x, y)
		}
		changed.add(fieldElement(f.Name), new.member, new.below)
		removed.add(fieldElement(f.Name), old.member, old.below)
	}
	return difference{changed.set(), removed.set()}
}

func (c comparer) metadata(m *schema.Message, before, after any) (old, new membership) {
	x, _ := before.(tree.Tree)
	y, _ := after.(tree.Tree)
	d := c.fields(m, x, y, c.excluded.excludesMetadata)
	return membership{below: d.removed}, membership{below: d.changed}
}

// fields compares two messages field by field, but for those that are left out.
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

// null is a value that is there and says nothing: what a list or an object becomes that has
// lost everything, and what is written for a field without a value.
type null struct{}

// encodedValues are the values of a field before and after as they are to be compared.
func (c comparer) encodedValues(f *schema.Field, x, y any) (before, after any) {
	if c.asEncoded {
		return encodedValue(f, x), encodedValue(f, y)
	}
	if y != nil { // what was there before was written
		x = encodedValue(f, x)
	}
	return x, y
}

// omitsEmpty tells whether a field is not written when it is empty.
func omitsEmpty(f *schema.Field) bool {
	return f.Shape != schema.Single || f.Type != schema.TypeMessage && f.Type != schema.TypeIntOrString && f.Type != schema.TypeRaw
}

// encodedValue is the value of a field as it is written; nil if it is left out.
func encodedValue(f *schema.Field, v any) any {
	switch {
	case v != nil && !f.EmitEmpty && !f.Pointer && omitsEmpty(f) && tree.IsEmpty(v):
		return nil
	case v != nil || !f.EmitEmpty:
		return v
	}
	if f.Shape != schema.Single || f.Pointer {
		return null{}
	}
	switch f.Type {
	case schema.TypeMessage:
		return tree.Tree{}
	case schema.TypeString:
		return ""
	case schema.TypeBool:
		return false
	case schema.TypeInt32, schema.TypeInt64, schema.TypeIntOrString:
		return int64(0)
	case schema.TypeDouble:
		return float64(0)
	case schema.TypeQuantity:
		return "0"
	case schema.TypeDuration:
		return "0s"
	}
	return null{}
}

// value compares two values; nil stands for none.
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

// isLeaf tells whether a value is of a sort that has no parts, though the plan gives it some.
func isLeaf(granularity granularity, v any) bool { return isScalar(v) || wrongType(granularity, v) }

// valueOrParts compares two values of which one, at least, has no parts: those of the other come or go
// with it.
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

// compareLeaf compares two values that have no parts.
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

// equalEncoded tells whether two values are written in the same way.
func equalEncoded(f *schema.Field, element bool, a, b any) bool {
	switch x := a.(type) {
	case tree.Tree:
		y, ok := b.(tree.Tree)
		if !ok {
			return false
		}
		if (element || f.Shape == schema.Single) && f.Type == schema.TypeMessage {
			if f.Message.Additional != nil {
				return tree.StrictEqual(x, y)
			}
			return !slices.ContainsFunc(f.Message.Fields, func(f *schema.Field) bool {
				return !equalEncoded(f, false, encodedValue(f, x[f.Name]), encodedValue(f, y[f.Name]))
			})
		}
		return len(x) == len(y) && !slices.ContainsFunc(x.SortedKeys(), func(key string) bool {
			v, there := y[key]
			return !there || !equalEncoded(f, true, x[key], v)
		})
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, func(v, w any) bool { return equalEncoded(f, true, v, w) })
	}
	switch b.(type) {
	case tree.Tree, []any:
		return false
	}
	return a == b
}

// isEmpty tells whether v has nothing in it.
func (c comparer) isEmpty(f *schema.Field, granularity granularity, v any) bool {
	switch v := v.(type) {
	case tree.Tree:
		return len(v) == 0 && !(c.asEncoded && granularity == byField && hasEmitEmpty(f.Message))
	case []any:
		return len(v) == 0
	}
	return v == nil || v == null{}
}

// hasEmitEmpty tells whether a message has a field that is always written.
func hasEmitEmpty(m *schema.Message) bool {
	return slices.ContainsFunc(m.Fields, func(f *schema.Field) bool { return f.EmitEmpty })
}

func isScalar(v any) bool {
	switch v.(type) {
	case tree.Tree, []any, null, nil:
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

// fieldsOf compares messages of which one may be absent. Of one that goes, everything goes
// that was written.
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

// valueIf is v, or nil if the condition does not hold.
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

// pair is what two lists have under one step, usually one item each.
type pair struct{ before, after []any }

// items compares two lists item by item. Items that are there more than once are
// compared together, and have no parts.
func (c comparer) items(f *schema.Field, before, after any) difference {
	x, _ := before.([]any)
	y, _ := after.([]any)
	if aligned(f, x, y) {
		return c.alignedItems(f, x, y)
	}
	pairs := make(map[pathElement]*pair, max(len(x), len(y)))
	order := make([]pathElement, 0, max(len(x), len(y)))
	at := func(item any) *pair {
		s := itemElement(f, item)
		p := pairs[s]
		if p == nil {
			p = new(pair)
			pairs[s] = p
			order = append(order, s)
		}
		return p
	}
	for _, item := range x {
		p := at(item)
		p.before = append(p.before, item)
	}
	for _, item := range y {
		p := at(item)
		p.after = append(p.after, item)
	}
	var changed, removed builder
	for _, s := range order {
		old, new := c.item(f, pairs[s])
		changed.add(s, new.member, new.below)
		removed.add(s, old.member, old.below)
	}
	return difference{changed.set(), removed.set()}
}

// aligned tells whether two lists have the same items in the same order, each once. It looks at
// short lists only.
func aligned(f *schema.Field, x, y []any) bool {
	if len(x) != len(y) || len(x) > linearSearchLimit {
		return false
	}
	for i := range x {
		if !sameItem(f, x[i], y[i]) || slices.ContainsFunc(x[:i], func(v any) bool { return sameItem(f, v, x[i]) }) {
			return false
		}
	}
	return true
}

func (c comparer) alignedItems(f *schema.Field, x, y []any) difference {
	var changed, removed builder
	for i := range x {
		old, new := c.value(f, true, x[i], y[i])
		if new.exists() || old.exists() {
			at := itemElement(f, x[i])
			changed.add(at, new.member, new.below)
			removed.add(at, old.member, old.below)
		}
	}
	return difference{changed.set(), removed.set()}
}

func (c comparer) item(f *schema.Field, p *pair) (old, new membership) {
	twice := len(p.before) > 1
	switch again := len(p.after) > 1; {
	case twice && again:
		return compareLeaf(f, false, p.before, p.after)
	case twice: // from now on it has parts
		_, new = c.value(f, true, nil, firstOrNil(p.after))
		old.member = true
	case again: // from now on it has none
		old, _ = c.value(f, true, firstOrNil(p.before), nil)
		new.member = true
	default:
		return c.value(f, true, firstOrNil(p.before), firstOrNil(p.after))
	}
	return old, new
}

func firstOrNil(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}
