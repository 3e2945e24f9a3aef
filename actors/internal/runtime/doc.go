// Package runtime runs actors. It is the only package that knows Proto.Actor: the packages above
// speak of owners, which have state that nobody else touches, and of messages to them.
//
// # Owners and references
//
// An Owner is a Receive method. Spawn gives it a mailbox and answers a Ref, by which everybody sends
// it messages and stops it. Messages of one owner are handled one after the other, in the order in
// which they were sent. Besides the messages of the caller, an owner receives
//
//	Started      before anything else, and again after a restart
//	Restarting   the last message of an owner that is replaced after a panic
//	Stopping     the last message of an owner that stops
//
// # Mailboxes
//
// A mailbox is a mutex and two slices, one for messages and one for what the supervisor has to say.
// It may be bounded. A message that it does not take, because it is full or its owner has stopped, is
// not lost: a message that implements Rejectable is told why, at once. The same goes for what is still
// queued when the owner stops. Proto.Actor's own bounded mailboxes either make the sender spin or drop
// silently, which is why this one exists.
//
// # Goroutines
//
// Owners run on a pool of goroutines (dispatcher), and may block there: the pool starts another
// goroutine whenever all others are busy and there is work. An owner that was spawned with Inline runs
// its next message on the goroutine of whoever sends to it while it is idle, for senders that wait for
// the answer anyway.
//
// # Panics
//
// A panic in Receive suspends the mailbox. The supervisor then restarts the owner after a back-off,
// with a fresh one from Spec.New, or resumes or stops it, as Supervision says. One that fails too
// often is stopped. The message that caused the panic is lost: who needs an answer gives it in a
// deferred function before the panic goes on. A panic in Stopping or Restarting is logged and does not
// keep the owner from stopping or restarting.
//
// # Stopping
//
// Stop ends an owner before what is queued, Drain after it. Ref.Done is closed when the owner is
// gone, so waiting for it needs no polling (Await).
//
// # The registry of Proto.Actor
//
// An actor system keeps its actors in a registry of 1,024 concurrent maps, each of
// cmap.SHARD_COUNT (32) shards with a map of its own: 33,000 objects, 4.5 MiB, before the first actor.
// cmap.SHARD_COUNT is a variable of the library, but it is no setting: every access divides by it, so
// changing it, even for a moment, breaks all maps that are alive, those of a program that embeds this
// one included. It is left alone here. Instead, the list of maps, which is a field of the registry, is
// cut to the first 32 before any actor is spawned; the other maps are garbage at once.
package runtime
