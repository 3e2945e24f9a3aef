package runtime

import "github.com/asynkron/protoactor-go/actor"

// A Ref is the address of an owner. All of its methods may be called by anyone at any time.
type Ref struct {
	name    string // for messages to people; set by Spawn
	mailbox mailbox

	// The mutex of the mailbox guards what follows.
	stopped bool
	done    chan struct{} // made by the first who asks for it
}

// Send queues a message. One that the mailbox does not take is rejected (Rejectable).
func (r *Ref) Send(message any) { r.mailbox.post(message) }

// Len is the number of messages that wait.
func (r *Ref) Len() int { return r.mailbox.length() }

// drained is the message behind all that an owner is to handle before it stops.
type drained struct{}

// stop is what Proto.Actor takes for the order to stop.
var stop = &actor.Stop{}

// Stop ends the owner after the message that it is handling. What is queued is rejected.
func (r *Ref) Stop() { r.mailbox.PostSystemMessage(stop) }

// Drain ends the owner after everything that is queued, even if its mailbox is full.
func (r *Ref) Drain() {
	if r.mailbox.putDrained() {
		r.mailbox.schedule()
	}
}

// Done is closed when the owner has handled its last message.
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

// markStopped rejects what is queued and tells who waits that the owner is gone.
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

// A Batch sends messages to many owners, whose goroutines are then called all at once: that costs
// less than one after the other. It belongs to one goroutine at a time and may be used again.
type Batch struct{ jobs []func() }

// Send queues a message like Ref.Send. An idle owner runs it after Flush.
func (b *Batch) Send(to *Ref, message any) {
	if to.mailbox.put(message) {
		b.jobs = append(b.jobs, to.mailbox.job)
	}
}

// Flush lets the owners run that were idle.
func (b *Batch) Flush(r *Runtime) {
	if len(b.jobs) == 0 {
		return
	}
	r.dispatcher.schedule(b.jobs...)
	clear(b.jobs)
	b.jobs = b.jobs[:0]
}
