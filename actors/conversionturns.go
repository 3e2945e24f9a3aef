package actors

import (
	"context"
	"sync"
	"time"
)

// conversionTurns serializes the changes to one object that wait for a conversion webhook.
// Concurrent changes would conflict, and each retry would call the webhook again.
type conversionTurns struct {
	mu     sync.Mutex // guards byPath, and the users in it
	byPath map[string]*conversionTurn
}

type conversionTurn struct {
	taken chan struct{} // has capacity for the current holder
	users int           // the holder and the waiters
}

// maxTurnWait limits the wait for a turn, because the holder's webhook may not respond. After the
// timeout, a change proceeds without a turn.
const maxTurnWait = 5 * time.Second

// take blocks until no other request is changing the object at path, maxTurnWait has elapsed, or
// ctx is done. waited is true if another change may have been made in the meantime. The caller must
// call end.
func (t *conversionTurns) take(ctx context.Context, path string) (end func(), waited bool) {
	turn := t.enter(path)
	select {
	case turn.taken <- struct{}{}:
		return func() { <-turn.taken; t.leave(path, turn) }, false
	default:
	}
	limit := time.NewTimer(maxTurnWait)
	defer limit.Stop()
	select {
	case turn.taken <- struct{}{}:
		return func() { <-turn.taken; t.leave(path, turn) }, true
	case <-limit.C:
	case <-ctx.Done():
	}
	return func() { t.leave(path, turn) }, true
}

func (t *conversionTurns) enter(path string) *conversionTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn := t.byPath[path]
	if turn == nil {
		if t.byPath == nil {
			t.byPath = map[string]*conversionTurn{}
		}
		turn = &conversionTurn{taken: make(chan struct{}, 1)}
		t.byPath[path] = turn
	}
	turn.users++
	return turn
}

func (t *conversionTurns) leave(path string, turn *conversionTurn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn.users--; turn.users == 0 {
		delete(t.byPath, path)
	}
}
