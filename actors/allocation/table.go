package allocation

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
)

type table[T comparable] map[T][]holder

// A holder is an object that holds an address or a port. count is the number of acquisitions that
// the object has not released.
type holder struct {
	owner meta.Key
	count int
}

func (r table[T]) available(owner meta.Key, t T) bool {
	return !slices.ContainsFunc(r[t], func(h holder) bool { return h.owner != owner })
}

func (r table[T]) unallocated(t T) bool { return len(r[t]) == 0 }

func (r table[T]) add(owner meta.Key, t T) {
	list := r[t]
	for i := range list {
		if list[i].owner == owner {
			list[i].count++
			return
		}
	}
	r[t] = append(list, holder{owner, 1})
}

// remove undoes one acquisition of t by owner. It has no effect if owner does not hold t.
func (r table[T]) remove(owner meta.Key, t T) {
	list := r[t]
	i := slices.IndexFunc(list, func(h holder) bool { return h.owner == owner })
	if i < 0 {
		return
	}
	if list[i].count--; list[i].count > 0 {
		return
	}
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(r, t)
		return
	}
	r[t] = list
}
