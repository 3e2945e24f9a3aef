package meta

import (
	"cmp"
	"slices"
	"strings"
)

// Labels are the labels of an object, sorted by key, each key once. There are few of them, and a list is
// smaller than a map and as fast.
type Labels []Label

// A Label is one key with its value.
type Label struct{ Key, Value string }

// NewLabels are the labels of a map; nil if it is empty.
func NewLabels(all map[string]string) Labels {
	var l Labels
	for key, value := range all {
		l = append(l, Label{key, value})
	}
	l.Sort()
	return l
}

// Sort sorts labels that were gathered in any order.
func (l Labels) Sort() {
	slices.SortFunc(l, func(a, b Label) int { return strings.Compare(a.Key, b.Key) })
}

// linearSearchLimit is the number of labels up to which a linear search is faster than a binary one.
const linearSearchLimit = 8

// Get is the value of a key, and whether it is there.
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
