package managedfields

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
)

type pair struct{ before, after []any }

// items compares two lists item by item, ignoring the order, because moving an item does not change
// ownership. Items with duplicate keys are compared as one leaf, because they share a path.
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

// aligned reports whether two lists have the same unique items in the same order. Such lists are
// compared without a map. It returns false for long lists, because the check is quadratic.
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

// item compares the items with the same path element in two lists. old contains the removed paths
// at and below that element, and new the changed ones. Several items with the same element have no
// separate paths, so they are compared as one leaf. Custom objects may contain such duplicates
// before validation or after a schema change.
func (c comparer) item(f *schema.Field, p *pair) (old, new membership) {
	twice := len(p.before) > 1
	switch again := len(p.after) > 1; {
	case twice && again:
		return compareLeaf(f, false, p.before, p.after)
	case twice: // the remaining item has parts again
		_, new = c.value(f, true, nil, firstOrNil(p.after))
		old.member = true
	case again: // with a second item, there are no parts anymore
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
