package actors

import (
	"sync"
	"time"
)

// watchers are the sessions of a collection by the namespace that they watch ("" for
// all). Its mutex guards its fields.
type watchers struct {
	mu    sync.Mutex
	by    map[string]map[*link]struct{}
	count int
	jobs  []func() // of wake, for their memory
}

func (w *watchers) add(l *link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = make(map[string]map[*link]struct{})
	}
	group := w.by[l.watch.Namespace]
	if group == nil {
		group = make(map[*link]struct{})
		w.by[l.watch.Namespace] = group
	}
	group[l] = struct{}{}
	w.count++
}

func (w *watchers) remove(l *link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	group := w.by[l.watch.Namespace]
	if _, in := group[l]; !in {
		return
	}
	delete(group, l)
	w.count--
	if len(group) == 0 {
		delete(w.by, l.watch.Namespace)
	}
}

// wake wakes the sessions that changes may concern, all at once.
func (w *watchers) wake(records []change, c *crew) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == 0 {
		return
	}
	w.wakeGroup(w.by[""])
	last := ""
	for i := range records {
		ns := records[i].object.Key.Namespace
		if ns == last {
			continue
		}
		w.wakeGroup(w.by[ns])
		last = ns
	}
	if len(w.jobs) > 0 {
		c.schedule(w.jobs...)
		clear(w.jobs)
		w.jobs = w.jobs[:0]
	}
}

// wakeGroup gathers the jobs of sessions that were not awake. The caller holds mu.
func (w *watchers) wakeGroup(group map[*link]struct{}) {
	for l := range group {
		if job := l.wake(); job != nil {
			w.jobs = append(w.jobs, job)
		}
	}
}

// remind lets the sessions send a bookmark whose clients have heard nothing since a time.
func (w *watchers) remind(since time.Time) {
	w.each(func(l *link) {
		if l.watch.Bookmarks && l.heard.Load() < since.UnixNano() && l.box.length() == 0 {
			l.box.post(bookmarkDue{})
		}
	})
}

// each calls fn for every session.
func (w *watchers) each(fn func(*link)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, group := range w.by {
		for l := range group {
			fn(l)
		}
	}
}

func (w *watchers) size() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}
