package actors

import (
	"sync"
	"time"
)

// watchers are the sessions of a collection by the namespace that they watch ("" for
// all). Its mutex guards its fields.
type watchers struct {
	mu          sync.Mutex
	byNamespace map[string]map[*watchHandle]struct{}
	count       int
	jobs        []func() // of wake, for their memory
}

func (w *watchers) add(l *watchHandle) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byNamespace == nil {
		w.byNamespace = make(map[string]map[*watchHandle]struct{})
	}
	group := w.byNamespace[l.watch.Namespace]
	if group == nil {
		group = make(map[*watchHandle]struct{})
		w.byNamespace[l.watch.Namespace] = group
	}
	group[l] = struct{}{}
	w.count++
}

func (w *watchers) remove(l *watchHandle) {
	w.mu.Lock()
	defer w.mu.Unlock()
	group := w.byNamespace[l.watch.Namespace]
	if _, in := group[l]; !in {
		return
	}
	delete(group, l)
	w.count--
	if len(group) == 0 {
		delete(w.byNamespace, l.watch.Namespace)
	}
}

// wake wakes the sessions that changes may concern, all at once.
func (w *watchers) wake(records []change, c *dispatcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == 0 {
		return
	}
	w.wakeGroup(w.byNamespace[""])
	last := ""
	for i := range records {
		ns := records[i].object.Key.Namespace
		if ns == last {
			continue
		}
		w.wakeGroup(w.byNamespace[ns])
		last = ns
	}
	if len(w.jobs) > 0 {
		c.schedule(w.jobs...)
		clear(w.jobs)
		w.jobs = w.jobs[:0]
	}
}

// wakeGroup gathers the jobs of sessions that were not awake. The caller holds mu.
func (w *watchers) wakeGroup(group map[*watchHandle]struct{}) {
	for l := range group {
		if job := l.wake(); job != nil {
			w.jobs = append(w.jobs, job)
		}
	}
}

// sendBookmarks lets the sessions send a bookmark whose clients have heard nothing since a time.
func (w *watchers) sendBookmarks(since time.Time) {
	w.each(func(l *watchHandle) {
		if l.watch.Bookmarks && l.lastSent.Load() < since.UnixNano() && l.mailbox.length() == 0 {
			l.mailbox.post(bookmarkDue{})
		}
	})
}

// each calls fn for every session.
func (w *watchers) each(fn func(*watchHandle)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, group := range w.byNamespace {
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
