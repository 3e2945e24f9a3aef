package ownership

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A difference is what has changed from one tree to another: the paths that were added or
// have another value now, and those that are gone.
type difference struct{ changed, removed Set }

// part is what a set holds at and below a place.
type part struct {
	member bool
	below  Set
}

// there tells whether the set holds anything there.
func (p part) there() bool { return p.member || !p.below.Empty() }

// A comparison compares two trees. With fill, both are taken as they are written: fields that
// are always written are there, and those that are left out when they are empty are not.
type comparison struct {
	skip skip
	fill bool
}

// compare is the difference between two objects of message m.
func (c comparison) compare(m *schema.Message, before, after schema.Tree) difference {
	var changed, removed builder
	for _, f := range fieldsOf(m, before, after) {
		x, y := before[f.Name], after[f.Name]
		if c.skip.root(f.Name) || schema.Same(x, y) {
			continue
		}
		var new, old part
		if f.Name == "metadata" {
			old, new = c.metadata(f.Message, x, y)
		} else {
			x, y = c.written(f, x, y)
			old, new = c.value(f, false, x, y)
		}
		changed.add(fieldStep(f.Name), new.member, new.below)
		removed.add(fieldStep(f.Name), old.member, old.below)
	}
	return difference{changed.set(), removed.set()}
}

func (c comparison) metadata(m *schema.Message, before, after any) (old, new part) {
	x, _ := before.(schema.Tree)
	y, _ := after.(schema.Tree)
	d := c.fields(m, x, y, c.skip.head)
	return part{below: d.removed}, part{below: d.changed}
}

// fields compares two messages field by field, but for those that are left out.
func (c comparison) fields(m *schema.Message, before, after schema.Tree, out func(name string) bool) difference {
	var changed, removed builder
	for _, f := range fieldsOf(m, before, after) {
		if out != nil && out(f.Name) {
			continue
		}
		x, y := before[f.Name], after[f.Name]
		if x == nil && y == nil && !(c.fill && f.Always) || schema.Same(x, y) && x != nil {
			continue
		}
		x, y = c.written(f, x, y)
		old, new := c.value(f, false, x, y)
		changed.add(fieldStep(f.Name), new.member, new.below)
		removed.add(fieldStep(f.Name), old.member, old.below)
	}
	return difference{changed.set(), removed.set()}
}

// null is a value that is there and says nothing: what a list or an object becomes that has
// lost everything, and what is written for a field without a value.
type null struct{}

// written are the values of a field before and after as they are to be compared.
func (c comparison) written(f *schema.Field, x, y any) (before, after any) {
	if c.fill {
		return written(f, x), written(f, y)
	}
	if y != nil { // what was there before was written
		x = written(f, x)
	}
	return x, y
}

// leftOut tells whether a field is not written when it is empty.
func leftOut(f *schema.Field) bool {
	return f.Shape != schema.Single || f.Type != schema.TypeMessage && f.Type != schema.TypeIntOrString && f.Type != schema.TypeRaw
}

// written is the value of a field as it is written; nil if it is left out.
func written(f *schema.Field, v any) any {
	switch {
	case v != nil && !f.Always && !f.Pointer && leftOut(f) && rules.Empty(v):
		return nil
	case v != nil || !f.Always:
		return v
	}
	if f.Shape != schema.Single || f.Pointer {
		return null{}
	}
	switch f.Type {
	case schema.TypeMessage:
		return schema.Tree{}
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
func (c comparison) value(f *schema.Field, element bool, before, after any) (old, new part) {
	relation := relationOf(f, element)
	switch {
	case before == nil && after == nil || schema.Same(before, after):
		return old, new
	case relation == whole || c.bare(f, relation, before) && c.bare(f, relation, after):
		return leaf(f, element, before, after)
	case partless(relation, before) || partless(relation, after):
		return c.turned(f, element, before, after)
	}
	d := c.parts(f, relation, before, after)
	return part{after == nil, d.removed}, part{before == nil, d.changed}
}

// partless tells whether a value is of a sort that has no parts, though the plan gives it some.
func partless(relation relation, v any) bool { return scalar(v) || odd(relation, v) }

// turned compares two values of which one, at least, has no parts: those of the other come or go
// with it.
func (c comparison) turned(f *schema.Field, element bool, before, after any) (old, new part) {
	relation := relationOf(f, element)
	old, new = leaf(f, element, before, after)
	if before != nil && !partless(relation, before) {
		old.below = c.parts(f, relation, before, nil).removed
	}
	if after != nil && !partless(relation, after) {
		new.below = c.parts(f, relation, nil, after).changed
	}
	return old, new
}

// leaf compares two values that have no parts.
func leaf(f *schema.Field, element bool, before, after any) (old, new part) {
	switch {
	case before == nil:
		new.member = true
	case after == nil:
		old.member = true
	default:
		new.member = !alike(f, element, before, after)
	}
	return old, new
}

// alike tells whether two values are written in the same way.
func alike(f *schema.Field, element bool, a, b any) bool {
	switch x := a.(type) {
	case schema.Tree:
		y, ok := b.(schema.Tree)
		if !ok {
			return false
		}
		if (element || f.Shape == schema.Single) && f.Type == schema.TypeMessage {
			if f.Message.Other != nil {
				return schema.Identical(x, y)
			}
			return !slices.ContainsFunc(f.Message.Fields, func(f *schema.Field) bool {
				return !alike(f, false, written(f, x[f.Name]), written(f, y[f.Name]))
			})
		}
		return len(x) == len(y) && !slices.ContainsFunc(rules.Keys(x), func(key string) bool {
			v, there := y[key]
			return !there || !alike(f, true, x[key], v)
		})
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, func(v, w any) bool { return alike(f, true, v, w) })
	}
	switch b.(type) {
	case schema.Tree, []any:
		return false
	}
	return a == b
}

// bare tells whether v has nothing in it.
func (c comparison) bare(f *schema.Field, relation relation, v any) bool {
	switch v := v.(type) {
	case schema.Tree:
		return len(v) == 0 && !(c.fill && relation == message && hasAlways(f.Message))
	case []any:
		return len(v) == 0
	}
	return v == nil || v == null{}
}

// hasAlways tells whether a message has a field that is always written.
func hasAlways(m *schema.Message) bool {
	return slices.ContainsFunc(m.Fields, func(f *schema.Field) bool { return f.Always })
}

func scalar(v any) bool {
	switch v.(type) {
	case schema.Tree, []any, null, nil:
		return false
	}
	return true
}

func (c comparison) parts(f *schema.Field, relation relation, before, after any) difference {
	x, _ := before.(schema.Tree)
	y, _ := after.(schema.Tree)
	switch relation {
	case message:
		return c.fieldsOf(f.Message, before, after, x, y)
	case items:
		return c.items(f, before, after)
	}
	var changed, removed builder
	for _, key := range keysOfBoth(x, y) {
		old, new := c.value(f, true, x[key], y[key])
		changed.add(fieldStep(key), new.member, new.below)
		removed.add(fieldStep(key), old.member, old.below)
	}
	return difference{changed.set(), removed.set()}
}

// fieldsOf compares messages of which one may be absent. Of one that goes, everything goes
// that was written.
func (c comparison) fieldsOf(m *schema.Message, before, after any, x, y schema.Tree) difference {
	if before != nil && after != nil {
		return c.fields(m, x, y, nil)
	}
	there, fill := y, c.fill
	if after == nil {
		there, fill = x, true
	}
	var b builder
	for _, f := range fieldsOf(m, there, nil) {
		v := there[f.Name]
		if fill {
			v = written(f, v)
		}
		if v != nil {
			old, new := c.value(f, false, ifElse(after == nil, v), ifElse(before == nil, v))
			b.add(fieldStep(f.Name), old.member || new.member, Union(old.below, new.below))
		}
	}
	if before == nil {
		return difference{changed: b.set()}
	}
	return difference{removed: b.set()}
}

// ifElse is v, or nil if the condition does not hold.
func ifElse(is bool, v any) any {
	if is {
		return v
	}
	return nil
}

func keysOfBoth(x, y schema.Tree) []string {
	keys := rules.Keys(x)
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
func (c comparison) items(f *schema.Field, before, after any) difference {
	x, _ := before.([]any)
	y, _ := after.([]any)
	if aligned(f, x, y) {
		return c.alignedItems(f, x, y)
	}
	pairs := make(map[step]*pair, max(len(x), len(y)))
	order := make([]step, 0, max(len(x), len(y)))
	at := func(item any) *pair {
		s := itemStep(f, item)
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
	if len(x) != len(y) || len(x) > fewItems {
		return false
	}
	for i := range x {
		if !sameItem(f, x[i], y[i]) || slices.ContainsFunc(x[:i], func(v any) bool { return sameItem(f, v, x[i]) }) {
			return false
		}
	}
	return true
}

func (c comparison) alignedItems(f *schema.Field, x, y []any) difference {
	var changed, removed builder
	for i := range x {
		old, new := c.value(f, true, x[i], y[i])
		if new.there() || old.there() {
			at := itemStep(f, x[i])
			changed.add(at, new.member, new.below)
			removed.add(at, old.member, old.below)
		}
	}
	return difference{changed.set(), removed.set()}
}

func (c comparison) item(f *schema.Field, p *pair) (old, new part) {
	twice := len(p.before) > 1
	switch again := len(p.after) > 1; {
	case twice && again:
		return leaf(f, false, p.before, p.after)
	case twice: // from now on it has parts
		_, new = c.value(f, true, nil, only(p.after))
		old.member = true
	case again: // from now on it has none
		old, _ = c.value(f, true, only(p.before), nil)
		new.member = true
	default:
		return c.value(f, true, only(p.before), only(p.after))
	}
	return old, new
}

func only(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}
