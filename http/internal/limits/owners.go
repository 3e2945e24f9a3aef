package limits

import "container/list"

// Owners holds items, such as connections, by principal, oldest first. It has no lock.
type Owners[T any] map[*Principal]*list.List

// Add adds the newest item of a principal.
func (o Owners[T]) Add(p *Principal, item T) *list.Element {
	if o[p] == nil {
		o[p] = list.New()
	}
	return o[p].PushBack(item)
}

// Remove removes an item, if it has not been removed yet.
func (o Owners[T]) Remove(p *Principal, e *list.Element) {
	if items := o[p]; items != nil {
		if items.Remove(e); items.Len() == 0 {
			delete(o, p)
		}
	}
}

// maxScan bounds the items of one principal that are examined at once.
const maxScan = 1024

// Oldest returns the oldest item of a principal that fits, or nil. Others become the newest, so
// that the next call reaches further.
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

// OldestOfLargest returns the principal that holds most of a resource, of those with more than
// least and an item that fits, and the oldest such item; nil if there is none.
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
