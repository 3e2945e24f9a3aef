// Package actors implements the object store. An actor owns each object with pending changes, each
// collection, the log and each watch. Only the owner changes that state. Other packages use Store.
// Client requests use ClientStore, which wraps a Store. Its writes return once they are in effect,
// and its reads return the newest version across all servers.
//
// The actors run in package internal/runtime. Package internal/conversion converts objects to the
// requested versions.
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
// durable batch, one at a time, in version order. Batches of this process arrive while the
// committer waits in Append. Batches of other writers arrive at any time. The follower never
// blocks. It sends each collection its part of the batch (changes).
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
// (package allocation) manage values that objects share, such as Service addresses. Owners, and
// requests that wait for admission, reserve values from them. A reservation is committed when the
// proposal is applied.
//
// An object has an actor while it has pending writes, and shortly after. Another object may reuse
// an idle actor, without its state, unless the actor has panicked. A writer runs an idle actor for
// one message on its own goroutine. Most other work runs on the pool. While few changes are in
// progress, a writer also leads its commit, which avoids most thread switches: it runs the
// committer on its own goroutine, and the committer runs publishers and inline watches
// (request.Watch). Other writers queue for the next batch.
//
// # Custom kinds
//
// Open creates the collections of built-in kinds, and RegisterKind those of custom kinds. If
// another writer stores objects before this process knows the CRD, the follower adds the
// collection. UnregisterKind removes an empty collection. Later requests for the kind fail.
//
// When a CRD changes, its stored objects stay unchanged and are converted when read. Between two
// batches, the publisher recomputes only the selectable fields. Changes computed before, and
// objects of other writers that were decoded without a CRD, get these fields when they are
// published.
//
// # History
//
// A collection's history holds its recent changes. All histories share one byte budget (retention).
// Records that exceed the budget or are too old are dropped one by one, the oldest of all
// collections first. A record counts only the memory that no index shares: the replaced or deleted
// object, and a small overhead. A watch whose next record was dropped gets 410 Gone, so that it
// never misses a change. A cached snapshot of a chunked list is dropped with the records after it.
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
// marks the proposals as applied. Mutate returns only then.
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
// A change may have companions in another collection, such as a Service's IPAddress
// (companions.go). Companions have no owner. They are computed with the change, from the published
// snapshot. The same commit writes them if they have not changed since (persist.Write.With). The
// proposal is applied when all its collections have published their parts.
//
// # Blocking admission
//
// Admission plugins run in the object's actor, on the newest version of the object. A plugin that
// may block, such as a webhook, has the stage request.MayBlock. If such a plugin handles a change,
// the actor hands out the prepared mutation with its base version, and continues with other
// mutations. The request's goroutine runs the plugin (Store.admit). The actor proposes the
// candidate (object.resume) if the object still has the base version. Otherwise the mutation is
// computed and admitted again, up to maxAdmissions times, and then fails with a conflict. Blocking
// plugins see only durable objects, because the mutation first waits for the object's pending
// commits.
//
// # Other writers
//
// Some log drivers let other processes write to the same log. Their commits arrive at the follower
// without a proposal, and are published like those of this process. The values that they use are
// reserved at that time (observeAllocation).
//
// This process may lag behind the log. Every write therefore carries its dependencies, and the log
// refuses it if they do not hold:
//
//   - Conditions: the version of the object, and of the objects on which a create depends.
//   - BasedOn: an earlier write in the same batch whose result, which has no version yet, is
//     the base of this write. If the earlier write is refused, this one is refused too.
//   - Claims: the names, such as addresses, that the write takes and releases (addReserved).
//   - Guards: the aggregates, such as a quota's usage, that the write depends on
//     (addReserved).
//
// A refused mutation waits until this process has applied the conflicting change, and is computed
// again (retry.await). After maxConflicts attempts, it fails with a conflict. If only a guard
// failed, it is retried for at most maxOvertaken, and then fails with a timeout.
//
// A log may drop changes before this process has received them, as etcd does by compaction. It then
// delivers all current objects (publishedState.Rebuild). Each collection publishes the differences
// as changes of other writers and starts a new history, and earlier watches and chunked lists end
// with 410.
//
// If the outcome of a write is unknown, its writer gets a timeout (leaveUndecided). If the write
// was committed, the commit arrives like one of another writer. The reservation is kept until the
// log has answered a later batch. The publisher releases it after it has published all earlier
// changes (pendingRelease).
//
// # A read
//
// Get and List read the collection's published snapshot and wait for no owner. A list at an older
// version is computed from the snapshot by undoing changes in the history (snapshotAt). If the
// history is too short, past.go reads single objects, their revisions, and lists (loggedSnapshot)
// from the log. At most two such reads run at once, for different users.
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
// stored objects, which the caller converts in chunks while it writes the response.
//
// A conversion that needs a webhook (Options.Converter) may block and fail. A list is then
// converted before it is returned. A failed conversion fails a get, list or write, and sends an
// ERROR event to a watch.
//
// If a kind has a conversion webhook, its objects stay in the version in which they were written.
// Their changes are computed in the requested version (versioned.go). The owner computes changes
// that need no conversion. All other changes are computed on the request's goroutine, like blocking
// admission. They are serialized per object (conversionTurns) to prevent repeated conflicts.
//
// # Invariants
//
//   - Nothing is visible before it is durable, and a writer can read its write once it
//     returns.
//   - Versions, commits and histories have the same order.
//   - A mutateRequest is answered exactly once: by its object's actor, by a full or closed
//     mailbox, or by its sender before it is sent. If the answer has a proposal, the
//     proposal's outcome is the result. A proposal is resolved once: applied, aborted or left
//     undecided.
//   - A proposal whose base was not committed is aborted, and its mutation is computed again.
//   - A create is committed only if its namespace and, for a custom kind, its CRD are
//     unchanged since they were checked.
//   - A reservation is committed or released, never both.
//   - A panic in a mutation returns 500 and restarts the object's actor from the published
//     index. A panic in a watch ends that watch. A panic in the committer or a publisher ends
//     the process, which recovers at its next start.
//
// # Stored objects that cannot be decoded
//
// Before a candidate is proposed, its encoded bytes are decoded by the scanner that recovery uses
// (codec.ReadBack). If recovery or the follower still cannot decode an object, the object goes into
// the quarantine. Its key stays taken, every snapshot includes it unchanged in key order, and a
// delete removes it. The Deleted event contains an object with only a name. In the history, an
// unreadable commit counts as a deletion.
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
