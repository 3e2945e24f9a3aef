package actors

import (
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/internal/runtime"
)

// watchers is the registry of a collection's watches, by the namespace that they watch ("" for all).
// Its mutex guards its fields.
type watchers struct {
	mu          sync.Mutex
	byNamespace map[string]map[*watch]struct{}
	count       int
	batch       runtime.Batch // of wake, for its memory
}

func (all *watchers) add(w *watch) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byNamespace == nil {
		all.byNamespace = make(map[string]map[*watch]struct{})
	}
	group := all.byNamespace[w.request.Namespace]
	if group == nil {
		group = make(map[*watch]struct{})
		all.byNamespace[w.request.Namespace] = group
	}
	group[w] = struct{}{}
	all.count++
}

func (all *watchers) remove(w *watch) {
	all.mu.Lock()
	defer all.mu.Unlock()
	group := all.byNamespace[w.request.Namespace]
	if _, in := group[w]; !in {
		return
	}
	delete(group, w)
	all.count--
	if len(group) == 0 {
		delete(all.byNamespace, w.request.Namespace)
	}
}

// wake wakes the watches that changes may concern, all at once.
func (all *watchers) wake(records []change, r *runtime.Runtime) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.count == 0 {
		return
	}
	all.wakeGroup(all.byNamespace[""])
	last := ""
	for i := range records {
		ns := records[i].object.Key.Namespace
		if ns == last {
			continue
		}
		all.wakeGroup(all.byNamespace[ns])
		last = ns
	}
	all.batch.Flush(r)
}

// wakeGroup queues a wake-up for each watch that has none queued. The caller holds mu.
func (all *watchers) wakeGroup(group map[*watch]struct{}) {
	for w := range group {
		if !w.wakePending.Swap(true) {
			all.batch.Send(w.ref, wakeUp{})
		}
	}
}

// sendBookmarks asks for a bookmark from each watch whose client has heard nothing since a time.
func (all *watchers) sendBookmarks(since time.Time) {
	all.each(func(w *watch) {
		if w.request.Bookmarks && w.lastSent.Load() < since.UnixNano() && w.ref.Len() == 0 {
			w.ref.Send(bookmarkDue{})
		}
	})
}

// each calls fn for every watch.
func (all *watchers) each(fn func(*watch)) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, group := range all.byNamespace {
		for w := range group {
			fn(w)
		}
	}
}

func (all *watchers) size() int {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.count
}
