package job

import (
	"slices"
	"strconv"
	"strings"
)

// interval is an inclusive range of indexes.
type interval struct{ first, last int }

// indexes is a set of indexes, stored as sorted, non-adjacent intervals. It stays small even with
// many completions, because most indexes succeed in order.
type indexes []interval

// parseIndexes parses the format that String returns. It ignores invalid parts, because any client
// may write a status. It also ignores indexes that are not less than below, because the completions
// of an elastic Job may have been lowered.
func parseIndexes(s string, below int) indexes {
	var all []interval
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRun := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && isRun {
			last, err = strconv.Atoi(to)
		}
		if err == nil && first >= 0 && first < below && last >= first {
			all = append(all, interval{first, min(last, below-1)})
		}
	}
	return join(all)
}

// join sorts intervals and merges adjacent ones. It reuses the memory of all.
func join(all []interval) indexes {
	slices.SortFunc(all, func(a, b interval) int { return a.first - b.first })
	joined := all[:0]
	for _, i := range all {
		if n := len(joined); n > 0 && i.first <= joined[n-1].last+1 {
			joined[n-1].last = max(joined[n-1].last, i.last)
		} else {
			joined = append(joined, i)
		}
	}
	return joined
}

func (x indexes) with(more []int) indexes {
	all := slices.Clone(x)
	for _, i := range more {
		all = append(all, interval{i, i})
	}
	return join(all)
}

func (x indexes) merge(other indexes) indexes { return join(slices.Concat(x, other)) }

func (x indexes) has(i int) bool {
	at, _ := slices.BinarySearchFunc(x, i, func(v interval, i int) int { return v.last - i })
	return at < len(x) && x[at].first <= i
}

func (x indexes) total() (n int) {
	for _, i := range x {
		n += i.last - i.first + 1
	}
	return n
}

// String formats the set like "0,2,3,5-9". Two adjacent indexes do not form a range.
func (x indexes) String() string {
	var parts []string
	for _, i := range x {
		switch i.last - i.first {
		case 0:
			parts = append(parts, strconv.Itoa(i.first))
		case 1:
			parts = append(parts, strconv.Itoa(i.first), strconv.Itoa(i.last))
		default:
			parts = append(parts, strconv.Itoa(i.first)+"-"+strconv.Itoa(i.last))
		}
	}
	return strings.Join(parts, ",")
}

// overlap returns the number of indexes in both sets. It walks both lists in parallel and always
// advances past the interval that ends first.
func (x indexes) overlap(other indexes) (n int) {
	for i, j := 0, 0; i < len(x) && j < len(other); {
		n += max(0, min(x[i].last, other[j].last)-max(x[i].first, other[j].first)+1)
		if x[i].last < other[j].last {
			i++
		} else {
			j++
		}
	}
	return n
}

func (x indexes) missing(n, below int) (found []int) {
	next := 0
	for _, i := range append(slices.Clone(x), interval{below, below}) {
		for ; next < min(i.first, below) && len(found) < n; next++ {
			found = append(found, next)
		}
		next = max(next, i.last+1)
	}
	return found
}
