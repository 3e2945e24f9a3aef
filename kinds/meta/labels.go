package meta

import (
	"cmp"
	"slices"
	"strings"
)

// Labels contains an object's labels, sorted by key without duplicates. A short list takes less
// memory than a map and is as fast.
type Labels []Label

type Label struct{ Key, Value string }

// NewLabels converts a map. It returns nil for an empty map.
func NewLabels(all map[string]string) Labels {
	var l Labels
	for key, value := range all {
		l = append(l, Label{key, value})
	}
	l.Sort()
	return l
}

// Sort sorts labels by key, as the other methods require.
func (l Labels) Sort() {
	slices.SortFunc(l, func(a, b Label) int { return strings.Compare(a.Key, b.Key) })
}

// linearSearchLimit is the number of labels up to which linear search is faster than binary search.
const linearSearchLimit = 8

// Get returns the value of a key and whether the key exists.
func (l Labels) Get(key string) (string, bool) {
	if len(l) > linearSearchLimit {
		if i, ok := slices.BinarySearchFunc(l, key, func(l Label, key string) int { return cmp.Compare(l.Key, key) }); ok {
			return l[i].Value, true
		}
		return "", false
	}
	for i := range l {
		if l[i].Key == key {
			return l[i].Value, true
		}
	}
	return "", false
}
