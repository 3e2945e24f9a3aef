package limits

import "container/list"

// Owners holds items, such as connections, by principal, oldest first. The caller must synchronize
// access.
type Owners[T any] map[*Principal]*list.List

// Add adds an item as the principal's newest.
func (o Owners[T]) Add(p *Principal, item T) *list.Element {
	if o[p] == nil {
		o[p] = list.New()
	}
	return o[p].PushBack(item)
}

// Remove removes an item. It does nothing if the item was already removed.
func (o Owners[T]) Remove(p *Principal, e *list.Element) {
	if items := o[p]; items != nil {
		if items.Remove(e); items.Len() == 0 {
			delete(o, p)
		}
	}
}

// maxScan limits how many items of one principal Oldest examines per call.
const maxScan = 1024

// Oldest returns the principal's oldest item for which fits returns true, or nil. It moves items
// that do not fit to the end, so that the next call examines other items first.
func (o Owners[T]) Oldest(p *Principal, fits func(T) bool) *list.Element {
	items := o[p]
	if items == nil {
		return nil
	}
	for range min(items.Len(), maxScan) {
		e := items.Front()
		if fits(e.Value.(T)) {
			return e
		}
		items.MoveToBack(e)
	}
	return nil
}

// OldestOfLargest returns the principal that holds the most of a resource, and its oldest item
// for which fits returns true. It considers only principals that have such an item and hold more
// than least. It returns nil if there are none.
func (o Owners[T]) OldestOfLargest(r Resource, least int64, fits func(T) bool) (owner *Principal, item *list.Element) {
	for p := range o {
		if held := p.Held(r); held > least {
			if e := o.Oldest(p, fits); e != nil {
				owner, item, least = p, e, held
			}
		}
	}
	return owner, item
}
