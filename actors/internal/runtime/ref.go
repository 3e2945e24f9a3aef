package runtime

import "github.com/asynkron/protoactor-go/actor"

// A Ref is the address of an owner. It is safe for concurrent use.
type Ref struct {
	name    string // for logs and errors; set by Spawn
	mailbox mailbox

	// Guarded by the mailbox's mutex:
	stopped bool
	done    chan struct{} // created on first use
}

// Send queues a message. If the mailbox rejects a Rejectable message, Send calls its Reject method.
func (r *Ref) Send(message any) {
	if r.mailbox.put(message) {
		r.mailbox.schedule()
	}
}

// Enqueue queues a message like Send, but does not run the owner. If the owner was idle, it returns
// a Turn to run the owner, and otherwise the zero Turn.
func (r *Ref) Enqueue(message any) Turn {
	if r.mailbox.put(message) {
		return Turn{&r.mailbox}
	}
	return Turn{}
}

// OnSender reports whether the current message is handled on the sender's goroutine. Only the owner
// may call it.
func (r *Ref) OnSender() bool { return r.mailbox.onSender }

// A Turn lets the caller of Enqueue choose where an idle owner runs. The caller must call Run or
// Dispatch exactly once. Until then, the owner handles no messages. On the zero Turn, both do
// nothing.
type Turn struct{ mailbox *mailbox }

// Run runs the owner for one message on the caller's goroutine. Further messages go to the
// dispatcher.
func (t Turn) Run() {
	if t.mailbox != nil {
		t.mailbox.runOne()
	}
}

// Dispatch schedules the owner on the dispatcher's goroutines.
func (t Turn) Dispatch() {
	if t.mailbox != nil {
		t.mailbox.dispatcher.schedule(t.mailbox.job)
	}
}

// Len returns the number of queued messages.
func (r *Ref) Len() int { return r.mailbox.length() }

// drained is a stop message that Drain queues after all other messages.
type drained struct{}

var stop = &actor.Stop{}

// Stop stops the owner after its current message and rejects queued messages.
func (r *Ref) Stop() { r.mailbox.PostSystemMessage(stop) }

// Drain stops the owner after it has handled all queued messages. It works even on a full mailbox.
func (r *Ref) Drain() {
	if r.mailbox.putDrained() {
		r.mailbox.schedule()
	}
}

// Done returns a channel that is closed when the owner has handled its last message.
func (r *Ref) Done() <-chan struct{} {
	r.mailbox.mu.Lock()
	defer r.mailbox.mu.Unlock()
	if r.done == nil {
		r.done = make(chan struct{})
		if r.stopped {
			close(r.done)
		}
	}
	return r.done
}

func (r *Ref) markStopped() {
	for _, message := range r.mailbox.close() {
		reject(message, ErrStopped)
	}
	r.mailbox.mu.Lock()
	defer r.mailbox.mu.Unlock()
	r.stopped = true
	if r.done != nil {
		close(r.done)
	}
}

// A Batch sends messages to many owners and then schedules the idle ones together, which is cheaper
// than one by one. It may be reused, but is not safe for concurrent use.
type Batch struct{ jobs []func() }

// Send queues a message like Ref.Send, but does not schedule an idle owner before Flush.
func (b *Batch) Send(to *Ref, message any) {
	if to.mailbox.put(message) {
		b.jobs = append(b.jobs, to.mailbox.job)
	}
}

// Flush schedules the owners that were idle when Send queued their messages.
func (b *Batch) Flush(r *Runtime) {
	if len(b.jobs) == 0 {
		return
	}
	r.dispatcher.schedule(b.jobs...)
	clear(b.jobs)
	b.jobs = b.jobs[:0]
}
