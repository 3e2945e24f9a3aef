package etcd

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/troupe-api/troupe/persist"
)

// confirmations lets concurrent readers share requests for the newest revision.
type confirmations struct {
	mu      sync.Mutex
	next    *confirmation // request that readers may still join; nil if no reader waits
	running bool
}

// A confirmation is one shared request for the newest revision. Its result is valid for all readers
// that joined before it was sent.
type confirmation struct {
	done     chan struct{}
	revision persist.Revision
	err      error
}

// Current returns a revision that includes every earlier commit by any writer, and waits until it
// is delivered. It returns persist.ErrUnavailable if the servers do not respond in time.
//
// Current does not use the result of a request already in flight, because that request may predate
// the call. All readers that arrive while a request is in flight share the next one.
func (l *Log) Current(ctx context.Context) (persist.Revision, error) {
	q := l.confirmations.join(l.confirm)
	select {
	case <-q.done:
		return q.revision, q.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

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

// run sends requests until no reader is waiting. It yields before each request to let more readers
// join.
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

// progressPeriod is the interval between progress requests while readers wait.
const progressPeriod = 20 * time.Millisecond

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

// awaitConfirmed blocks until the follower has reached a revision. It requests progress
// notifications, because changes outside the prefix cause no events.
func (l *Log) awaitConfirmed(ctx context.Context, revision int64) error {
	if applied, _ := l.appliedRevision(); applied >= revision { // the common case
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
