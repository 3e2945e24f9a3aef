package reconcile

import (
	"context"
	"maps"
	"slices"
	"time"
)

// An Index holds values by group and by key within the group. It keeps no empty groups.
type Index[G, K comparable, V any] map[G]map[K]V

// Put adds or replaces a value.
func (x Index[G, K, V]) Put(group G, key K, value V) {
	if x[group] == nil {
		x[group] = map[K]V{}
	}
	x[group][key] = value
}

// Delete removes a value.
func (x Index[G, K, V]) Delete(group G, key K) {
	if delete(x[group], key); len(x[group]) == 0 {
		delete(x, group)
	}
}

func valuesOf[K comparable, V any](m map[K]V) []V {
	return slices.AppendSeq(make([]V, 0, len(m)), maps.Values(m))
}

// Bounds of the delay between attempts to delete the remaining objects of a namespace or CRD, for
// use with Poll.
const (
	MinDrainDelay = 20 * time.Millisecond
	MaxDrainDelay = 5 * time.Second
)

// Poll calls done until it returns true or the context is done. The delay between calls starts at
// from, doubles each time, and never exceeds to.
func Poll(ctx context.Context, from, to time.Duration, done func() bool) {
	for pause := from; ctx.Err() == nil && !done(); pause = min(2*pause, to) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}
