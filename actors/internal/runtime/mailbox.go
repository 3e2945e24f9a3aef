package runtime

import (
	"errors"
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// Reasons for rejecting a message.
var (
	ErrStopped = errors.New("the owner has stopped")
	ErrFull    = errors.New("the mailbox is full")
)

// A Rejectable is a message whose Reject method is called if the message is rejected or its owner
// stops before handling it.
type Rejectable interface {
	// Reject is called with ErrFull or ErrStopped. It must not block.
	Reject(err error)
}

func reject(message any, err error) {
	if r, ok := message.(Rejectable); ok {
		r.Reject(err)
	}
}

// mailbox is the message queue of one owner. It may be bounded. Messages that arrive before Start
// are kept. mu guards the queues and the flags.
type mailbox struct {
	mu        sync.Mutex
	user      queue[any]
	system    queue[any]
	limit     int // 0: unbounded
	started   bool
	running   bool
	suspended bool
	closed    bool
	inline    bool // a sender runs an idle owner for one message; set before Start
	onSender  bool // the running message runs on its sender's goroutine; only the runner uses it

	invoker    actor.MessageInvoker
	dispatcher *dispatcher
	job        func() // run
}

// put queues a message, or rejects it if the mailbox is full or closed. If put returns true, the
// caller must call schedule.
func (m *mailbox) put(message any) (schedule bool) {
	m.mu.Lock()
	var refused error
	switch {
	case m.closed:
		refused = ErrStopped
	case m.limit > 0 && m.user.length() >= m.limit:
		refused = ErrFull
	default:
		m.user.push(message)
	}
	schedule = refused == nil && m.wake()
	m.mu.Unlock()
	if refused != nil {
		reject(message, refused)
	}
	return schedule
}

// putDrained queues a stop message after all other messages, even if the mailbox is full. If it
// returns true, the caller must call schedule.
func (m *mailbox) putDrained() (schedule bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.user.push(drained{})
	return m.wake()
}

// wake must be called with mu held.
func (m *mailbox) wake() bool {
	wake := m.started && !m.running && m.ready()
	m.running = m.running || wake
	return wake
}

// ready must be called with mu held.
func (m *mailbox) ready() bool {
	return m.system.length() > 0 || !m.suspended && m.user.length() > 0
}

// schedule runs the owner. If the mailbox is inline, one message runs on the sender's goroutine,
// which saves a context switch. Further messages go to the dispatcher.
func (m *mailbox) schedule() {
	if m.inline {
		m.runOne()
	} else {
		m.dispatcher.schedule(m.job)
	}
}

func (m *mailbox) runOne() {
	if message, system, ok := m.next(); ok {
		m.onSender = true
		m.deliver(message, system)
		m.onSender = false
		if !m.markIdle() {
			m.dispatcher.schedule(m.job)
		}
	}
}

func (m *mailbox) close() []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return m.user.drain()
}

func (m *mailbox) length() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.user.length()
}

// next removes the next message. System messages come first. If no message is ready, next marks the
// mailbox idle and returns false.
func (m *mailbox) next() (message any, system, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running = m.ready(); !m.running {
		return nil, false, false
	}
	if m.system.length() > 0 {
		return m.system.pop(), true, true
	}
	return m.user.pop(), false, true
}

func (m *mailbox) markIdle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running = m.ready()
	return !m.running
}

func (m *mailbox) run() {
	for taken := 0; ; taken++ {
		if taken >= m.dispatcher.throughput {
			taken = 0
			runtime.Gosched()
		}
		message, system, ok := m.next()
		if !ok {
			return
		}
		m.deliver(message, system)
	}
}

func (m *mailbox) deliver(message any, system bool) {
	defer func() {
		if reason := recover(); reason != nil {
			m.invoker.EscalateFailure(reason, message)
		}
	}()
	if !system {
		m.invoker.InvokeUserMessage(message)
		return
	}
	switch message.(type) {
	case *actor.SuspendMailbox:
		m.setSuspended(true)
	case *actor.ResumeMailbox:
		m.setSuspended(false)
	default:
		m.invoker.InvokeSystemMessage(message)
	}
}

func (m *mailbox) setSuspended(suspended bool) {
	m.mu.Lock()
	m.suspended = suspended
	m.mu.Unlock()
}

func (m *mailbox) PostUserMessage(message any) {
	if m.put(message) {
		m.schedule()
	}
}

func (m *mailbox) PostSystemMessage(message any) {
	m.mu.Lock()
	m.system.push(message)
	wake := m.wake()
	m.mu.Unlock()
	if wake {
		m.schedule()
	}
}

func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, _ actor.Dispatcher) {
	m.invoker, m.job = invoker, m.run
}

// Start schedules the messages that have already arrived.
func (m *mailbox) Start() {
	m.mu.Lock()
	m.started = true
	wake := m.wake()
	m.mu.Unlock()
	if wake {
		m.schedule()
	}
}

func (m *mailbox) UserMessageCount() int { return m.length() }

var _ actor.Mailbox = (*mailbox)(nil)
