package authz

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
)

// answerKey is the hash of a question.
type answerKey [sha256.Size]byte

// An answer is what a mode has decided.
type answer struct {
	decision Decision
	reason   string
}

// answers keep the newest answers of a remote for a time. It holds at most maxAnswers: the one
// that nobody has asked for the longest goes first.
type answers struct {
	now func() time.Time

	mu    sync.Mutex // guards what follows, for the time of one look-up
	known map[answerKey]*list.Element
	order *list.List // of keptAnswer, what was asked for last in front
}

type keptAnswer struct {
	key   answerKey
	until time.Time
	answer
}

// maxAnswers times about 300 bytes is what the answers of one remote may take.
const maxAnswers = 8192

func newAnswers(now func() time.Time) *answers {
	return &answers{now: now, known: map[answerKey]*list.Element{}, order: list.New()}
}

func (c *answers) get(key answerKey) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.known[key]
	if e == nil {
		return answer{}, false
	}
	kept := e.Value.(*keptAnswer)
	if !c.now().Before(kept.until) {
		c.drop(e)
		return answer{}, false
	}
	c.order.MoveToFront(e)
	return kept.answer, true
}

// put keeps an answer for a time; 0 keeps nothing.
func (c *answers) put(key answerKey, a answer, life time.Duration) {
	if life <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.known[key]; e != nil {
		c.drop(e)
	}
	c.known[key] = c.order.PushFront(&keptAnswer{key, c.now().Add(life), a})
	if c.order.Len() > maxAnswers {
		c.drop(c.order.Back())
	}
}

func (c *answers) drop(e *list.Element) {
	c.order.Remove(e)
	delete(c.known, e.Value.(*keptAnswer).key)
}
