// Package actors implements the object store. Each piece of state has one owner, an actor, and only
// the owner changes it. Other packages use Store. Client requests use ClientStore, which wraps a
// Store and reads the newest version across all servers. docs/architecture.md follows a write, a
// read and a watch through the code.
//
// # Owners
//
//	owner      exclusive state                 messages                    may block on
//	object     the newest state of one key,    mutateRequest               nothing
//	           committed or not
//	committer  writes to the log               proposal (an accepted       the log's sync; an
//	                                           mutation)                   earlier proposal,
//	                                                                       until applied
//	publisher  index, kind and history of      changes (of a batch),       nothing
//	           one collection                  tick, rebuilt (replaces
//	                                           changes lost by the log),
//	                                           migrateSchema (the CRD
//	                                           changed), pendingRelease
//	                                           (of a reservation),
//	                                           snapshotRequest
//	watch      cursor and filter of one watch  wakeUp, bookmarkDue         its client; a
//	                                                                       conversion
//
// The follower (committer.publishBatch) is a callback, not an actor. The log calls it with each
// durable batch, in version order. It never blocks, and sends each collection its part of the batch
// (changes).
//
// Other goroutines read an owner's state through an immutable snapshot behind an atomic pointer. A
// few tables each have a mutex, which is never held while waiting:
//
//	appliedRevision   the version up to which all changes are published
//	activations       the actor that owns each active object
//	watchers          the watches of a collection
//	snapshotCache     snapshots of chunked lists
//	retention         the byte budget that all histories share
//	quarantine        stored objects that cannot be decoded
//	conversionTurns   queues of changes that need a conversion webhook
//
// Mailboxes, the goroutine pool and the conversion service also have a mutex each. Allocators
// (package allocation) reserve values that objects share, such as Service addresses. A reservation
// is committed when the proposal is applied.
//
// # A write
//
//	Store.Mutate             write.go        generates a name if requested, converts the result
//	Store.sendToOwner        write.go        asks the owner until its answer is final
//	activation.ask           activation.go   sends the mutation, waits for reply and proposal
//	object.handle            object.go       computes the candidate on the newest version
//	object.submit            object.go       proposes it to the committer
//	mutateReply.lead         leading.go      runs the committer if few changes are in progress
//	committer.commit         committer.go    writes all waiting proposals as one batch
//	committer.publishBatch   publishbatch.go distributes the durable batch
//	publisher.publish        collection.go   updates index and history, wakes the watches
//	proposal.markApplied     proposal.go     wakes the writer
//
// To avoid thread switches, a writer runs an idle actor for one message on its own goroutine. While
// few changes are in progress, it also runs the committer, publishers and inline watches
// (leading.go).
//
// Admission plugins run in the object's actor. If a plugin may block (request.MayBlock), the actor
// hands out the prepared mutation, and the request's goroutine runs the plugin. The actor proposes
// the candidate only if the object is unchanged. Otherwise the mutation starts over, up to
// maxAdmissions times.
//
// # Other writers
//
// Some log drivers let other processes write to the same log, so that this process may lag behind.
// The log refuses a write if its dependencies do not hold: the Conditions, BasedOn, Claims and
// Guards of persist.Write. The mutation then waits until this process has applied the conflicting
// change, and is computed again (conflict.go).
//
// If a log drops changes before they were received, as etcd does by compaction, it delivers all
// current objects (rebuild.go). Earlier watches and chunked lists then end with 410.
//
// # Custom kinds and conversions
//
// Open creates the collections of built-in kinds, and RegisterKind those of custom kinds. If
// another writer stores objects before this process knows the CRD, the follower adds the
// collection. A CRD change does not rewrite stored objects. The publisher recomputes only their
// selectable fields.
//
// Collections hold objects in the stored version. Gets, writes and watches convert on their own
// goroutines (package internal/conversion), and the callers of List convert in chunks. If a
// conversion may fail (Options.Converter), a list is converted before it is returned.
//
// # History
//
// A collection's history holds its recent changes, from which watches resume. Recovery rebuilds it
// from the journal. Records that are too old or exceed the byte budget of all histories are dropped
// one by one, the oldest of all collections first. A watch whose next record was dropped gets 410
// Gone. If the history is too short for a read at an older version, past.go reads the log.
//
// With each write, the journal stores the part of the previous object that watches need to resume
// after a restart (previousState):
//
//	(none)            the object existed, and no selector can distinguish it from the new one
//	01                the object is new
//	02 <JSON>         the previous object, whose labels or selectable fields differed
//
// # Invariants
//
//   - Nothing is visible before it is durable, and a writer can read its write once it
//     returns.
//   - Versions, commits and histories have the same order.
//   - A mutateRequest is answered exactly once: by its object's actor, by a full or closed
//     mailbox, or by its sender before it is sent. If the answer has a proposal, the
//     proposal's outcome is the result.
//   - A proposal is resolved once: applied, aborted or left undecided. An undecided write that was
//     committed arrives later like one of another writer.
//   - A proposal whose base was not committed is aborted, and its mutation is computed again.
//   - A create is committed only if its namespace and, for a custom kind, its CRD are
//     unchanged since they were checked.
//   - A reservation is committed or released, never both.
//   - A panic in a mutation returns 500 and restarts the object's actor from the published
//     index. A panic in a watch ends that watch. A panic in the committer or a publisher ends
//     the process, which recovers at its next start.
//   - A candidate is proposed only if the scanner that recovery uses can decode its encoded bytes
//     (codec.ReadBack). A stored object that still cannot be decoded goes into the quarantine. Its
//     key stays taken, snapshots include it unchanged, and a delete removes it.
package actors
