// Package runtime runs actors. Only this package uses Proto.Actor. The packages above it use
// messages and owners, which have exclusive state.
//
// # Owners and references
//
// Spawn gives an owner a mailbox and returns a Ref, which sends it messages and stops it. An owner
// handles messages one at a time, in the order in which they were sent. It also receives
//
//	Started      first, and again after a restart
//	Restarting   the last message of an owner that is replaced after a panic
//	Stopping     the last message of an owner that stops
//
// # Mailboxes
//
// A mailbox may be bounded. It rejects a message if it is full or its owner has stopped, and all
// queued messages when the owner stops. If a rejected message is Rejectable, its Reject method is
// called. Proto.Actor's own bounded mailboxes make the sender spin or drop messages silently.
//
// # Goroutines
//
// Owners run on a goroutine pool (dispatcher). They may block, because the pool starts another
// goroutine when all are busy and work is queued. An idle owner spawned with Inline runs its next
// message on the sender's goroutine. This suits senders that wait for the reply anyway. After
// Enqueue, a sender can do the same later with the returned Turn.
//
// # Panics
//
// A panic in Receive suspends the mailbox. After a backoff, the supervisor replaces the owner with
// a new one from Spec.New, or resumes or stops it, depending on Supervision. An owner that fails
// too often is stopped. The message that caused the panic is lost. If it needs a reply, a deferred
// function must send it.
//
// # Stopping
//
// Stop ends an owner before it handles queued messages, and Drain after it has handled them.
//
// # Proto.Actor's registry
//
// The registry of an actor system has 1,024 concurrent maps. With the default of 32 shards each,
// they would take 4.5 MiB. The number of shards (cmap.SHARD_COUNT) is global and is set only in
// init, because a later change would break existing maps. newSystem cuts the registry to 32 maps.
package runtime
