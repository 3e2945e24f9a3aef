package allocation

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A register knows the owners of things of one sort.
type register[T comparable] map[T][]holding

// A holding is how often an owner has taken a thing.
type holding struct {
	owner meta.Key
	times int
}

// free says whether owner may take t: nobody else has it.
func (r register[T]) free(owner meta.Key, t T) bool {
	return !slices.ContainsFunc(r[t], func(h holding) bool { return h.owner != owner })
}

// untaken says whether nobody has t.
func (r register[T]) untaken(t T) bool { return len(r[t]) == 0 }

// take gives t to owner once more.
func (r register[T]) take(owner meta.Key, t T) {
	list := r[t]
	for i := range list {
		if list[i].owner == owner {
			list[i].times++
			return
		}
	}
	r[t] = append(list, holding{owner, 1})
}

// give takes t from owner once; what owner does not have is nobody's loss.
func (r register[T]) give(owner meta.Key, t T) {
	list := r[t]
	i := slices.IndexFunc(list, func(h holding) bool { return h.owner == owner })
	if i < 0 {
		return
	}
	if list[i].times--; list[i].times > 0 {
		return
	}
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(r, t)
		return
	}
	r[t] = list
}
