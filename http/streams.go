package http

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// streams are the watches that run. fasthttp does not know of connections that it has
// given away, so a shutdown ends them here.
type streams struct {
	mu     sync.Mutex // guards the rest
	open   map[*stream]struct{}
	closed bool
	empty  chan struct{} // closed when closed is set and nothing is open
}

// add registers a watch; false if there may be no new ones.
func (r *streams) add(st *stream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	if r.open == nil {
		r.open = map[*stream]struct{}{}
	}
	r.open[st] = struct{}{}
	return true
}

func (r *streams) remove(st *stream) {
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

// lastWords is how long clients may take to read what is on its way when the server ends.
const lastWords = 5 * time.Second

// close ends every watch soon and lets no new one in.
func (r *streams) close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	r.empty = make(chan struct{})
	all := make([]*stream, 0, len(r.open))
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
	time.AfterFunc(lastWords, r.cut)
}

// cut closes the connections of the watches whose clients do not read.
func (r *streams) cut() {
	r.mu.Lock()
	left := slices.Collect(maps.Keys(r.open))
	r.mu.Unlock()
	for _, st := range left {
		st.cut()
	}
}

// wait waits after close until the last watch has ended.
func (r *streams) wait(ctx context.Context) error {
	select {
	case <-r.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
