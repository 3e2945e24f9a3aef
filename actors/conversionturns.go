package actors

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/request"
)

// conversionTurns let those who change one object and wait for a webhook do so one after the other. Each of them would
// otherwise be beaten by all others, and convert again and again. Owners have nothing to do with it.
type conversionTurns struct {
	mu     sync.Mutex // guards byPath, and the users in it
	byPath map[string]*conversionTurn
}

type conversionTurn struct {
	taken chan struct{} // has room for the one whose turn it is
	users int           // whose turn it is, and who waits for it
}

// maxTurnWait is how long somebody waits for a turn. Then he goes without: the one before may wait for a webhook that does
// not answer.
const maxTurnWait = 5 * time.Second

// take waits for the turn of a path, until ctx ends. waited tells that another change may have been made meanwhile. The
// caller ends it by the function that it gets.
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

// turnHolder is who may hold the turn of an object. The zero value holds none.
type turnHolder struct{ end func() }

// wait takes the turn of the object that a mutation changes, unless it is held already, and tells whether it had to wait.
func (h *turnHolder) wait(ctx context.Context, c *collection, m *request.Mutation) (waited bool) {
	if h.end == nil {
		h.end, waited = c.turns.take(ctx, path(m.Key.Namespace, m.Key.Name))
	}
	return waited
}

// release ends the turn.
func (h *turnHolder) release() {
	if h.end != nil {
		h.end()
	}
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
