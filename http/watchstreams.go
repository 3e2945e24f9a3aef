package http

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// watchStreams are the watches that run. fasthttp does not know of connections that it has
// given away, so a shutdown ends them here.
type watchStreams struct {
	mu     sync.Mutex // guards the rest
	open   map[*watchStream]struct{}
	closed bool
	empty  chan struct{} // closed when closed is set and nothing is open
}

// add registers a watch; false if there may be no new ones.
func (r *watchStreams) add(st *watchStream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	if r.open == nil {
		r.open = map[*watchStream]struct{}{}
	}
	r.open[st] = struct{}{}
	return true
}

func (r *watchStreams) remove(st *watchStream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.open[st]; !ok {
		return
	}
	delete(r.open, st)
	if r.closed && len(r.open) == 0 {
		close(r.empty)
	}
}

// shutdownGrace is how long clients may take to read what is on its way when the server ends.
const shutdownGrace = 5 * time.Second

// close ends every watch soon and lets no new one in.
func (r *watchStreams) close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	r.empty = make(chan struct{})
	all := make([]*watchStream, 0, len(r.open))
	for st := range r.open {
		all = append(all, st)
	}
	if len(all) == 0 {
		close(r.empty)
	}
	r.mu.Unlock()
	for _, st := range all {
		st.stop()
	}
	time.AfterFunc(shutdownGrace, r.forceClose)
}

// forceClose closes the connections of the watches whose clients do not read.
func (r *watchStreams) forceClose() {
	r.mu.Lock()
	left := slices.Collect(maps.Keys(r.open))
	r.mu.Unlock()
	for _, st := range left {
		st.forceClose()
	}
}

// wait waits after close until the last watch has ended.
func (r *watchStreams) wait(ctx context.Context) error {
	select {
	case <-r.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
