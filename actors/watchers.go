package actors

import (
	"math"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
)

// watchers is the registry of a collection's watches. It groups them, so that a change wakes only
// those that may select it.
type watchers struct {
	mu     sync.Mutex
	groups map[watchGroup]map[*watch]struct{}
	fields map[int]int // number of watches by the field of their groups
	count  int
	batch  runtime.Batch  // reused by wake
	inline []runtime.Turn // reused by wake
}

// watchGroup identifies watches that select the same objects. An empty namespace selects all
// namespaces. If field is not noField, the objects must have the given value in that field. For
// example, each kubelet watches the Pods of its node.
type watchGroup struct {
	namespace string
	field     int
	value     string
}

const noField = math.MinInt

// group ignores selectors that match converted objects, because wake sees only stored objects.
func (w *watch) group() watchGroup {
	g := watchGroup{namespace: w.request.Namespace, field: noField}
	if field, value, ok := w.request.Fields.Exact(); ok && !w.selects {
		g.field, g.value = field, value
	}
	return g
}

func (all *watchers) add(w *watch) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.groups == nil {
		all.groups, all.fields = make(map[watchGroup]map[*watch]struct{}), make(map[int]int)
	}
	g := w.group()
	members := all.groups[g]
	if members == nil {
		members = make(map[*watch]struct{})
		all.groups[g] = members
	}
	members[w] = struct{}{}
	all.fields[g.field]++
	all.count++
}

func (all *watchers) remove(w *watch) {
	all.mu.Lock()
	defer all.mu.Unlock()
	g := w.group()
	members := all.groups[g]
	if _, in := members[w]; !in {
		return
	}
	if delete(members, w); len(members) == 0 {
		delete(all.groups, g)
	}
	if all.fields[g.field]--; all.fields[g.field] == 0 {
		delete(all.fields, g.field)
	}
	all.count--
}

// wake wakes all watches that may select one of the changes, which must already be in the history
// but not yet in the applied revision. It returns the turns of the inline watches, which the caller
// must run. The returned slice is valid until the next call.
func (all *watchers) wake(records []*record, on *runtime.Runtime) (inline []runtime.Turn) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.inline = all.inline[:0]
	if all.count == 0 {
		return nil
	}
	for _, r := range records {
		for field := range all.fields {
			all.wakeGroups(r, field, r.object)
			if r.previous != nil && field != noField && selector.FieldOf(field, r.previous) != selector.FieldOf(field, r.object) {
				all.wakeGroups(r, field, r.previous)
			}
		}
	}
	all.batch.Flush(on)
	return all.inline
}

// wakeGroups wakes the watches whose group selects state. The caller must hold mu.
func (all *watchers) wakeGroups(r *record, field int, state *meta.Object) {
	g := watchGroup{field: field}
	if field != noField {
		g.value = selector.FieldOf(field, state)
	}
	for {
		for w := range all.groups[g] {
			switch {
			case !w.unread.CompareAndSwap(0, r.version):
			case w.request.Inline:
				all.inline = append(all.inline, w.ref.Enqueue(wakeUp{}))
			default:
				all.batch.Send(w.ref, wakeUp{})
			}
		}
		if g.namespace == state.Key.Namespace {
			return
		}
		g.namespace = state.Key.Namespace
	}
}

func (all *watchers) sendBookmarks(since time.Time) {
	all.each(func(w *watch) {
		if w.request.Bookmarks && w.lastSent.Load() < since.UnixNano() && w.ref.Len() == 0 {
			w.ref.Send(bookmarkDue{})
		}
	})
}

func (all *watchers) each(fn func(*watch)) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, members := range all.groups {
		for w := range members {
			fn(w)
		}
	}
}

func (all *watchers) size() int {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.count
}
