package actors

import (
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// A rejectable message can be answered by the mailbox that does not take it.
type rejectable interface{ reject(err error) }

// mailbox is the queue of one actor: bounded, and it answers what it refuses. It keeps
// messages that arrive before Start. Its mutex guards the two queues and the flags,
// for as long as a message is put in or taken out.
type mailbox struct {
	mu        sync.Mutex
	user      []any
	head      int // user[:head] are taken
	system    []any
	limit     int // 0: unbounded
	started   bool
	running   bool
	suspended bool
	closed    bool

	invoker    actor.MessageInvoker
	dispatcher actor.Dispatcher
}

func newMailbox(limit int) *mailbox { return &mailbox{limit: limit} }

// post queues a message, or rejects it because the mailbox is full or closed.
func (m *mailbox) post(message any) {
	m.mu.Lock()
	var refused error
	switch {
	case m.closed:
		refused = errStopped
	case m.limit > 0 && len(m.user)-m.head >= m.limit:
		refused = errFull
	default:
		m.user = append(m.user, message)
	}
	wake := refused == nil && m.wake()
	m.mu.Unlock()
	if wake {
		m.dispatcher.Schedule(m.run)
	}
	if r, ok := message.(rejectable); ok && refused != nil {
		r.reject(refused)
	}
}

// wake marks the mailbox running if there is something to run. The caller holds mu.
func (m *mailbox) wake() bool {
	ready := m.started && !m.running && (len(m.system) > 0 || (!m.suspended && m.head < len(m.user)))
	m.running = m.running || ready
	return ready
}

// close refuses what comes from now on and returns what is queued.
func (m *mailbox) close() []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	rest := m.user[m.head:]
	m.user, m.head = nil, 0
	return rest
}

// length is the number of queued messages.
func (m *mailbox) length() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.user) - m.head
}

// next takes one message, system messages first; ok is false when there is none, and
// the mailbox is then idle.
func (m *mailbox) next() (message any, system, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.system) > 0 {
		message = m.system[0]
		m.system = m.system[1:]
		return message, true, true
	}
	if m.suspended || m.head == len(m.user) {
		m.running = false
		if m.head == len(m.user) {
			m.user, m.head = m.recycle(), 0
		}
		return nil, false, false
	}
	message = m.user[m.head]
	m.user[m.head] = nil
	m.head++
	return message, false, true
}

// recycle keeps a small queue for the next messages and lets go of a large one.
func (m *mailbox) recycle() []any {
	if cap(m.user) > 64 {
		return nil
	}
	return m.user[:0]
}

// run hands messages to the actor until there are none.
func (m *mailbox) run() {
	for taken := 0; ; taken++ {
		if taken >= m.dispatcher.Throughput() {
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

// deliver invokes the actor; a panic that reaches here goes to the supervisor.
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

// PostUserMessage implements actor.Mailbox.
func (m *mailbox) PostUserMessage(message any) { m.post(message) }

// PostSystemMessage implements actor.Mailbox.
func (m *mailbox) PostSystemMessage(message any) {
	m.mu.Lock()
	m.system = append(m.system, message)
	wake := m.wake()
	m.mu.Unlock()
	if wake {
		m.dispatcher.Schedule(m.run)
	}
}

// RegisterHandlers implements actor.Mailbox.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, dispatcher actor.Dispatcher) {
	m.invoker, m.dispatcher = invoker, dispatcher
}

// Start implements actor.Mailbox: from now on messages run.
func (m *mailbox) Start() {
	m.mu.Lock()
	m.started = true
	wake := m.wake()
	m.mu.Unlock()
	if wake {
		m.dispatcher.Schedule(m.run)
	}
}

// UserMessageCount implements actor.Mailbox.
func (m *mailbox) UserMessageCount() int { return m.length() }

var _ actor.Mailbox = (*mailbox)(nil)
