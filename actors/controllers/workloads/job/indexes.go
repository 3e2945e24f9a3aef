package job

import (
	"slices"
	"strconv"
	"strings"
)

// An interval is a run of indexes; both ends belong to it.
type interval struct{ first, last int }

// indexes are intervals in order, with a gap between each two.
// A Job may have very many completions, of which most succeed in order. A list of intervals stays short then, in memory
// as well as in the status. All functions rely on the order and on the gaps; join establishes both.
type indexes []interval

// parseIndexes reads what String has written, up to a number of indexes. What cannot be read is left out: a status may
// have been written by anybody.
// Indexes that are not below the number are dropped: the completions of an elastic Job may have been lowered after they
// were written.
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

// join puts intervals in order, and makes one of those without a gap between them. It changes the list.
// Callers therefore pass a list of their own; with and merge copy theirs before.
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

// with is a set with some more indexes.
func (x indexes) with(more []int) indexes {
	all := slices.Clone(x)
	for _, i := range more {
		all = append(all, interval{i, i})
	}
	return join(all)
}

// merge is the union of two sets.
func (x indexes) merge(other indexes) indexes { return join(slices.Concat(x, other)) }

// has tells whether an index is in the set, by binary search: it is asked for each Pod of a Job.
func (x indexes) has(i int) bool {
	at, _ := slices.BinarySearchFunc(x, i, func(v interval, i int) int { return v.last - i })
	return at < len(x) && x[at].first <= i
}

// total is the number of indexes in the set, not of its intervals.
func (x indexes) total() (n int) {
	for _, i := range x {
		n += i.last - i.first + 1
	}
	return n
}

// String is as in "0,2,3,5-9": two in a row are written like any two.
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

// overlap is how many indexes two sets share.
// It walks both lists once; the interval that ends first can share nothing with what follows in the other list.
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

// missing are the first indexes below a number that are not in the set, at most n of them.
// The interval at the end is a sentinel, so that the indexes after the last interval are found by the same loop.
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
