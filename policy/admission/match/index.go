package match

import "github.com/troupe-api/troupe/kinds/schema"

// An Index finds the items whose Criteria cover a resource. The nil Index is empty.
type Index[T any] struct {
	items []T
	of    func(T) *Criteria
	found memo[[]T]
}

// NewIndex returns an Index of items. of returns an item's Criteria.
func NewIndex[T any](items []T, of func(T) *Criteria) *Index[T] {
	return &Index[T]{items: items, of: of}
}

// Select returns the items whose rules may match a resource, in their original order. The slice is
// shared and must not be modified.
func (x *Index[T]) Select(k *schema.Kind, subresource string) []T {
	if x == nil || len(x.items) == 0 {
		return nil
	}
	return x.found.get(k, subresource, func() []T {
		var found []T
		for _, item := range x.items {
			if x.of(item).Selects(k, subresource) {
				found = append(found, item)
			}
		}
		return found
	})
}
