package match

import "github.com/troupe-api/troupe/kinds/schema"

// An Index finds those of many values that a resource concerns. The nil Index has none.
type Index[T any] struct {
	items []T
	of    func(T) *Criteria
	found memo[[]T]
}

// NewIndex makes an Index of items, each with its Criteria.
func NewIndex[T any](items []T, of func(T) *Criteria) *Index[T] {
	return &Index[T]{items: items, of: of}
}

// Select are the items whose rules may match a request for a resource, in their order. The list is shared
// and must not be changed.
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
