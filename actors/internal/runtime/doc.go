// Package runtime runs actors. It is the only package that uses Proto.Actor: the packages above it
// use owners, which have exclusive state, and messages.
//
// # Owners and references
//
// An Owner is a Receive method. Spawn gives it a mailbox and returns a Ref, which sends it messages
// and stops it. An owner handles messages one at a time, in the order in which they were sent.
// Besides the caller's messages, it receives
//
//	Started      first, and again after a restart
//	Restarting   the last message of an owner that is replaced after a panic
//	Stopping     the last message of an owner that stops
//
// # Mailboxes
//
// A mailbox is a mutex and two slices, for messages and for supervision. It may be bounded. A
// message that it rejects, because it is full or its owner has stopped, is not lost: Rejectable
// messages are notified at once. The same holds for messages that are queued when the owner stops.
// Proto.Actor's bounded mailboxes make the sender spin or drop messages silently.
//
// # Goroutines
//
// Owners run on a pool of goroutines (dispatcher), and may block: the pool starts another goroutine
// whenever all are busy and there is work. An idle owner spawned with Inline runs its next message
// on the goroutine of the sender, for senders that wait for the answer anyway. A sender of Enqueue
// can do the same later with the Turn that it gets.
//
// # Panics
//
// A panic in Receive suspends the mailbox. After a backoff the supervisor replaces the owner by one
// from Spec.New, or resumes or stops it, as set in Supervision. An owner that fails too often is
// stopped. The message that caused the panic is lost: if it needs an answer, a deferred function
// must give it. A panic in Stopping or Restarting is logged and does not prevent either.
//
// # Stopping
//
// Stop ends an owner before queued messages, Drain after them. Ref.Done is closed when the owner is
// gone, so Await needs no polling.
//
// # The registry of Proto.Actor
//
// An actor system has a registry of 1,024 concurrent maps with cmap.SHARD_COUNT (32) shards each:
// 33,000 objects, 4.5 MiB, before the first actor. cmap.SHARD_COUNT is a variable but not a
// setting: every access divides by it, so changing it breaks all existing maps, including those of
// an embedding program. Instead, the list of maps, a field of the registry, is cut to the first 32
// before any actor is spawned.
package runtime
