// Package actors implements the object store. An actor owns each object that is being changed, each
// collection, the log and each watch. Only the owner changes their state. Other packages use Store,
// and client requests use ClientStore, which wraps a Store. A ClientStore returns from a write when
// the write is in effect, and reads the newest version of all servers.
//
// The actors run in package internal/runtime. Package internal/conversion converts objects to the
// versions that clients request.
//
// # Owners
//
//	owner      exclusively changes              messages                     may block on
//	object     the newest state of one key,     mutateRequest                nothing
//	           committed or not
//	committer  what is written to the log       proposal (an accepted        the sync of the log; an
//	                                            mutation)                    earlier proposal, until
//	                                                                         it is applied
//	publisher  index, kind and history of       changes (of a batch), tick,  nothing
//	           one collection                   rebuilt (a state that replaces
//	                                            changes lost by the log),
//	                                            migrateSchema (the CRD changed),
//	                                            pendingRelease (of a
//	                                            reservation), snapshotRequest
//	watch      cursor and filter of one watch   wakeUp, bookmarkDue          its client; a conversion
//
// The follower (committer.publishBatch) is a function, not an actor. The log calls it with each
// durable batch, one at a time, in version order. Batches of this process arrive while the
// committer waits in Append, and those of other writers at any time. The follower does not block.
// It sends each collection its part (changes).
//
// Other goroutines read an owner's state through an immutable snapshot behind an atomic pointer. A
// few tables have a mutex each, which is held only briefly and never while waiting:
//
//	appliedRevision   the version up to which everything is published
//	activations       which actor owns which object
//	watchers          the watches of a collection
//	snapshotCache     snapshots of chunked lists
//	retention         the budget of bytes that all histories share
//	quarantine        stored objects that cannot be decoded
//	conversionTurns   the turns of changes that wait for a conversion webhook
//
// Mailboxes, the pool of goroutines and the conversion service also have a mutex each. Another
// mutex is held while a collection is added. Allocators keep the values that objects share, such as
// the addresses of Services (package allocation). Owners reserve values from them, and so do
// requests that wait for admission. A reservation is committed when the proposal is applied.
//
// An object has an actor while a writer waits for a change of the object, and shortly after.
// Another object may reuse an idle actor, without its state, unless the actor has panicked. A
// writer runs an idle actor for one message on its own goroutine. Most other work runs on the pool.
// While few changes are in progress, a writer also leads its commit. It runs the committer on its
// own goroutine, and the committer runs publishers and inline watches (request.Watch). This avoids
// most thread switches. Other writers queue for the next batch.
//
// # Custom kinds
//
// Open creates the collections of built-in kinds. RegisterKind adds those of custom kinds. The
// follower adds the collection if another writer stores objects before this process knows the CRD.
// UnregisterKind removes empty collections, and requests that found the kind before get an error.
// The table of collections is copied on each change.
//
// When a CRD changes, its objects stay as written and are converted when read. Only the values of
// selectable fields are computed again, by the publisher between two batches. Changes computed
// before, and objects of other writers that were decoded without a CRD, get these values when they
// are published.
//
// # History
//
// A collection's history holds its recent changes. All histories share one budget in bytes
// (retention). Records that exceed the budget or are too old are dropped one by one, the oldest
// version of all collections first. A record counts only the memory that the history alone retains:
// the replaced or deleted object, and a small overhead. A watch whose cursor points at a dropped
// record gets 410 Gone, so that it never misses a change. A cached snapshot of a chunked list is
// dropped with the records after it.
//
// Recovery rebuilds the histories from the journal within the same budget, so that it needs no more
// memory than serving. Objects of custom kinds are decoded without a schema until all CRDs are
// known.
//
// # A write
//
// Mutate finds or activates the object's actor and sends it the mutation. The actor computes the
// candidate (package mutation) on the newest version of the object, even an uncommitted one. It
// sends the candidate to the committer as a proposal. The committer writes all waiting proposals as
// one batch. When the batch is durable, the log calls the follower, which sends each collection its
// part. The publisher updates index and history, publishes the new snapshot, wakes the watches and
// marks the proposals as applied. Only then does Mutate return.
//
//	Store.Mutate             write.go        generates a name if requested, converts the result
//	Store.sendToOwner        write.go        asks the owner until its answer is final
//	activation.ask           activation.go   sends the mutation, waits for reply and proposal
//	object.handle            object.go       computes the candidate
//	object.submit            object.go       sends it to the committer
//	mutateReply.lead         leading.go      runs the committer if few changes are in progress
//	committer.commit         committer.go    writes a batch
//	committer.publishBatch   publishbatch.go distributes it
//	publisher.publish        collection.go   makes it visible
//	proposal.markApplied     proposal.go     wakes the writer
//
// A change may have companions in another collection, such as the IPAddress of a Service
// (companions.go). No owner computes these proposals. They are computed with the change, from the
// published snapshot, and written in the same commit (persist.Write.With) if they have not changed
// since. The proposal is applied when all its collections have published their parts.
//
// # Admission that may block
//
// Admission plugins run in the object's actor, on the newest version of the object. A plugin that
// may block, such as a webhook, has the stage request.MayBlock. If it handles a change, the actor
// hands out the prepared mutation with the version on which it is based, and continues with other
// mutations. The goroutine of the request runs the plugin (Store.admit). The actor proposes the
// candidate (object.resume) if the object still has that version. Otherwise the mutation is
// computed and admitted again, up to maxAdmissions times, and then fails with a conflict. Such
// plugins see only durable objects, because a mutation waits while a change of the object is being
// committed.
//
// # Other writers
//
// Other processes may write to the same log, if its driver allows that. Their commits arrive at the
// follower without a proposal, and are published like those of this process. The values that they
// use are reserved at that time (observeAllocation).
//
// This process may be behind the log. Every write therefore carries its dependencies, and the log
// refuses it if they do not hold:
//
//   - Conditions: the version of the object, and of the objects on which a create depends.
//   - BasedOn: an earlier write in the same batch, on whose result it was computed. That result
//     has no version yet. If the earlier write is refused, this one is refused too.
//   - Claims: the names, such as addresses, that it takes and releases (addReserved).
//   - Guards: the aggregates, such as a quota's usage, that it was computed on (addReserved).
//
// A refused mutation waits until this process has applied the conflicting change, and is computed
// again (retry.await). After maxConflicts attempts it fails with a conflict. If a guard was the
// reason, the mutation is retried for at most maxOvertaken, and then fails with a timeout.
//
// A log may drop changes before this process has received them, as etcd does by compaction. It then
// delivers all current objects (publishedState.Rebuild). Each collection publishes the differences
// as changes of other writers. Its history begins after that, so earlier watches and chunked lists
// end with 410.
//
// If the outcome of a write is unknown, its writer gets a timeout (leaveUndecided). If it was
// committed, the commit arrives like one of another writer. The reservation is kept until the log
// has answered a later batch. The publisher then releases it, after it has published all earlier
// changes (pendingRelease).
//
// # A read
//
// Get and List read the published snapshot of the collection and do not wait for any owner. A list
// at an older version is computed from the snapshot by undoing changes in the history (snapshotAt).
//
// # A watch
//
//	Store.Watch             watch.go        finds the start, spawns the owner, registers it
//	watchers.wake           watchers.go     wakes the watches that a batch may concern
//	watch.advance           watchevents.go  reads the history, selects, converts, sends
//	watch.end               watch.go        unregisters the watch, ends the sink
//
// # Conversions
//
// Collections hold objects in the stored version. Owners and publishers never convert for readers.
// Gets, writes and watches convert on their own goroutines and share the results. A list returns
// stored objects, which the caller converts part by part while it writes the response.
//
// A conversion that needs a webhook (Options.Converter) may block and fail. A list is then
// converted before it is returned. A failure is the response to a get, list or write, and an ERROR
// event of a watch.
//
// Objects whose versions a webhook converts stay in the version in which they were written. Their
// changes are computed in the version of the request (versioned.go). The owner computes the changes
// that need no conversion. All other changes are computed on the goroutine of the request, as if
// admission blocked. These take turns for each object (conversionTurns), so that they do not
// conflict repeatedly.
//
// # Invariants
//
//   - Nothing is visible before it is durable, and a writer can read its write once it returns.
//   - Versions, commits and histories have the same order.
//   - A mutateRequest is answered exactly once: by its object's actor, by a full or closed mailbox,
//     or by its sender before it is sent. If the answer has a proposal, the outcome of the proposal
//     is the result. A proposal is resolved once: applied, aborted or left undecided.
//   - A proposal whose base was not committed is aborted, and its mutation is computed again.
//   - A create is committed only if its namespace and, for a custom kind, its CRD are unchanged
//     since they were checked.
//   - A reservation is committed or released, never both.
//   - A panic in a mutation returns 500 and restarts the object's actor from the published index. A
//     panic in a watch ends that watch. A panic in the committer or a publisher ends the process,
//     which recovers at its next start.
//
// # Stored objects that cannot be decoded
//
// Before a candidate is proposed, its encoded bytes are decoded by the scanner that recovery uses
// (codec.ReadBack). An object that recovery or the follower still cannot decode goes into the
// quarantine. Its key counts as taken, every snapshot keeps it unchanged in the order of keys, and
// a delete removes it. When it is deleted, watches get an object with only a name. In the history,
// an unreadable commit counts as the deletion of its object.
//
// # Metadata in the journal
//
// With each write, the journal stores the part of the previous object that watches need to resume
// after a restart (previousState):
//
//	(none)            the object existed, and no selector can distinguish it from the new one
//	01                the object is new
//	02 <JSON>         the previous object, whose labels or selectable fields differed
package actors
