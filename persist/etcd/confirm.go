package etcd

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/troupe-api/troupe/persist"
)

// confirmations let readers share the question which revision is the newest.
type confirmations struct {
	mu      sync.Mutex
	next    *confirmation // that readers may still join; nil if none waits
	running bool
}

// A confirmation is one question, and the answer to all that asked before it was sent.
type confirmation struct {
	done     chan struct{}
	revision persist.Revision
	err      error
}

// Current answers a revision that contains everything that was committed before the call, whoever has written it, once
// it was delivered here. The error is persist.ErrUnavailable if the servers do not answer in time.
//
// A question that is under way may have been sent before the call, so that its answer does not count: who comes meanwhile waits
// for the next one, together.
func (l *Log) Current(ctx context.Context) (persist.Revision, error) {
	q := l.confirmations.join(l.confirm)
	select {
	case <-q.done:
		return q.revision, q.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// join adds a reader to the next question, and sees to that it is asked.
func (c *confirmations) join(ask func() (persist.Revision, error)) *confirmation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = &confirmation{done: make(chan struct{})}
	}
	q := c.next
	if !c.running {
		c.running = true
		go c.run(ask)
	}
	return q
}

// run asks until nobody waits. Before it asks, it lets those go on who can: each reader that is about to join saves a question.
func (c *confirmations) run(ask func() (persist.Revision, error)) {
	for {
		runtime.Gosched()
		c.mu.Lock()
		q := c.next
		c.next, c.running = nil, q != nil
		c.mu.Unlock()
		if q == nil {
			return
		}
		q.revision, q.err = ask()
		close(q.done)
	}
}

// progressPeriod is how often the servers are asked how far they are while readers wait for the watch.
const progressPeriod = 20 * time.Millisecond

// confirm asks for the newest revision and waits until the follower has reached it. If what is newest concerns other
// keys, no event comes: the servers then tell on request that there is none.
func (l *Log) confirm() (persist.Revision, error) {
	if err := l.health.error(); err != nil {
		return 0, l.unavailable(err)
	}
	l.stats.confirmations.Add(1)
	ctx, cancel := bounded(l.ctx, l.o.WriteTimeout)
	defer cancel()
	if err := l.confirmHistory(ctx); err != nil {
		return 0, l.unavailable(err)
	}
	return l.appliedVersion(), nil
}

// awaitConfirmed waits until the follower has reached a revision, and lets the servers tell how far they are.
func (l *Log) awaitConfirmed(ctx context.Context, revision int64) error {
	if applied, _ := l.appliedRevision(); applied >= revision { // as nearly always
		return nil
	}
	for {
		attempt, cancel := context.WithTimeout(ctx, progressPeriod)
		err := l.awaitApplied(attempt, revision)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		l.requestProgress()
	}
}
