package allocation

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
)

// table holds the owners of addresses, or of ports.
type table[T comparable] map[T][]holder

// holder is how often an owner has acquired one.
type holder struct {
	owner meta.Key
	count int
}

// available tells whether owner may acquire t: no other owner has it.
func (r table[T]) available(owner meta.Key, t T) bool {
	return !slices.ContainsFunc(r[t], func(h holder) bool { return h.owner != owner })
}

// unallocated tells whether t has no owner.
func (r table[T]) unallocated(t T) bool { return len(r[t]) == 0 }

// add counts one more acquisition of t by owner.
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

// remove takes back one acquisition of t by owner, if there is one.
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
