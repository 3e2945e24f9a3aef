package stream

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// A LongRunning request runs until something ends it: a watch, or a proxied request without
// deadline.
type LongRunning interface {
	// Stop ends it soon and in order. It may be called repeatedly and concurrently.
	Stop()
	// Revoke ends it soon, and sends refusal to the client if possible.
	Revoke(refusal *meta.Status)
	// ForceClose ends it at once.
	ForceClose()
}

var _ LongRunning = (*Watch)(nil)

// A Registry tracks long-running requests by grant, because fasthttp does not track hijacked
// connections. A shutdown stops them all, and an invalid grant revokes its requests
// (reauthorize.go).
type Registry struct {
	log *slog.Logger

	mu     sync.Mutex // guards the fields below and the state of grants
	grants map[authn.Digest]*Grant
	open   map[LongRunning]*Grant
	closed bool
	empty  chan struct{} // closed when closed is set and no request is open
	// lastGeneration is from the last scan of all grants. Without a new one nothing is due before
	// nextExpiry, if set, unless unchecked is set.
	lastGeneration uint64
	nextExpiry     time.Time
	unchecked      bool
}

// NewRegistry returns an empty Registry.
func NewRegistry(log *slog.Logger) *Registry {
	return &Registry{log: log, grants: map[authn.Digest]*Grant{}, open: map[LongRunning]*Grant{}, empty: make(chan struct{})}
}

// Add registers a request under its grant, or an equal registered one. The grant is checked soon,
// since decisions may have changed since the request was admitted. Add returns false after Close.
func (r *Registry) Add(w LongRunning, g *Grant) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	if same := r.grants[g.Key]; same != nil {
		g = same
	} else {
		r.grants[g.Key] = g
		g.running = map[LongRunning]struct{}{}
	}
	g.checked, g.deniedOnce, r.unchecked = false, false, true
	g.running[w] = struct{}{}
	r.open[w] = g
	return true
}

// Remove removes a request.
func (r *Registry) Remove(w LongRunning) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, ok := r.open[w]
	if !ok {
		return
	}
	delete(r.open, w)
	delete(g.running, w)
	if len(g.running) == 0 && r.grants[g.Key] == g {
		delete(r.grants, g.Key)
	}
	if r.closed && len(r.open) == 0 {
		close(r.empty)
	}
}

// shutdownGrace is how long clients may take to read pending data during shutdown.
const shutdownGrace = 5 * time.Second

// Close stops all requests and refuses new ones.
func (r *Registry) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	all := r.openLocked()
	if len(all) == 0 {
		close(r.empty)
	}
	r.mu.Unlock()
	for _, w := range all {
		w.Stop()
	}
	time.AfterFunc(shutdownGrace, r.forceClose)
}

// forceClose ends the requests whose clients do not read.
func (r *Registry) forceClose() {
	r.mu.Lock()
	left := r.openLocked()
	r.mu.Unlock()
	for _, w := range left {
		w.ForceClose()
	}
}

func (r *Registry) openLocked() []LongRunning {
	all := make([]LongRunning, 0, len(r.open))
	for w := range r.open {
		all = append(all, w)
	}
	return all
}

// Wait waits for the last request to end after Close.
func (r *Registry) Wait(ctx context.Context) error {
	select {
	case <-r.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
