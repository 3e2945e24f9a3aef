// Package actors holds the objects of the server and everything that changes them. Every object
// that is being changed, every collection, the log and every watch has an owner: an actor that
// alone changes its state. The rest of the server uses Store. Clients use a ClientStore over it,
// which answers when their writes are in effect, and with the newest state of all servers.
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
// The receiving side of the log, the follower, is a function and no actor (committer.publishBatch).
// The log calls it with each durable batch, one at a time in the order of versions: for this
// process while the committer waits in Append, for other writers at any time. It does not block,
// and sends each collection its part (changes).
//
// Others read an owner's state through an immutable snapshot behind an atomic pointer. A few tables
// have a mutex each, which is held only briefly and never while waiting:
//
//	appliedRevision   the version up to which everything is published
//	activations       which actor owns which object
//	watchers          the watches of a collection
//	snapshotCache     snapshots of chunked lists
//	retention         the budget of bytes that all histories share
//	quarantine        stored objects that cannot be decoded
//	conversionTurns   holders of and waiters for the turn to change an object with a webhook
//
// Mailboxes, the pool of goroutines and the conversion service have a mutex each too, and one is
// held while a collection is added. Values that objects share, such as the addresses of Services,
// are kept by allocators (package allocation). Owners reserve from them, as do requests that wait
// for admission. A reservation is committed when the proposal is applied.
//
// An object has an actor while a writer waits for a change of it, and shortly after. Another object
// may reuse an idle actor, without its state, unless it has panicked. A writer runs an idle actor
// for one message on its own goroutine; almost everything else runs on the pool. While few changes
// are in progress, a writer also leads its commit: after the turn of the object it runs the
// committer, which runs publishers and inline watches (request.Watch), on its own goroutine. That
// saves most switches of threads. Others still queue for the next batch.
//
// # Custom kinds
//
// The collections of built-in kinds exist from Open on. Those of custom kinds are added by
// RegisterKind, or by the follower if another writer has stored objects before the CRD is known
// here. UnregisterKind removes empty ones; requests that found the kind before get an error. The
// table of collections is copied on each change. When a CRD changes, its objects stay as written
// and are converted when read. Only the values of selectable fields are computed again, by the
// publisher between two batches. Changes computed before that, and objects of other writers that
// were decoded without a CRD, get them when they are published.
//
// # History
//
// A collection's history holds its recent changes. All histories share one budget of bytes
// (retention). The excess, and what is too old, is dropped record by record, the oldest version of
// all collections first. A record counts what only the history keeps in memory: the state that was
// replaced or deleted, and a little for itself. A watch whose cursor points at a dropped record
// gets 410 Gone, and so never misses a change. A cached snapshot of a chunked list is dropped with
// the records after it, since it would keep uncounted objects in memory.
//
// Recovery rebuilds the histories from the journal within the same budget, so it needs no more
// memory than serving. Objects of custom kinds are decoded without a schema until all CRDs are
// known.
//
// # A write
//
// Mutate finds or activates the object's actor and sends it the mutation. The actor computes the
// candidate (package mutation) on the newest state, even an uncommitted one, and sends it to the
// committer as a proposal. The committer writes all waiting proposals as one batch. When it is
// durable, the log calls the follower, which sends each collection its part. The publisher updates
// index and history, publishes the new snapshot, wakes the watches and marks the proposals as
// applied. Only then Mutate returns.
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
// (companions.go). They are proposals without an owner: computed with the change on the published
// state, written with it (persist.Write.With) under the condition that this state is unchanged, and
// resolved with it. The proposal is applied when all its collections have published their parts.
//
// # Admission that may block
//
// Plugins run in the object's actor, on the newest state. A plugin that may block, such as a
// webhook, declares that (request.MayBlock). If it handles a change, the actor hands out the
// prepared mutation with the version of its base, and continues with other mutations. The goroutine
// of the request runs the plugin (Store.admit), and the actor proposes the candidate
// (object.resume) if the object still has that version. Otherwise the mutation is computed and
// admitted again, up to maxAdmissions times, and then fails with a conflict. Such plugins see only
// durable states: a mutation waits while a change of the object is being committed.
//
// # Other writers
//
// Other processes may write to the same log, if its driver allows that. Their commits arrive at the
// follower without a proposal, and are published like those of this process. What objects share is
// reserved for them at that time (observeAllocation).
//
// This process may be behind the log. So every write carries its dependencies, and the log refuses
// it if they do not hold:
//
//   - Conditions: the version of the object, and of what a create depends on.
//   - BasedOn: the write of the same batch whose state it was computed on, which has no version
//     yet. If that one is refused, so is this one.
//   - Claims: the names, such as addresses, that it takes and releases (addReserved).
//   - Guards: the aggregates, such as a quota's usage, that it was computed on (addReserved).
//
// A refused mutation waits until the conflicting change is applied here, and is computed again
// (retry.await), up to maxConflicts times; then it fails with a conflict. After a refusal by a
// guard it is computed again for at most maxOvertaken, and then fails with a timeout.
//
// A log may drop changes before they arrive here, as etcd does by compaction. Then it delivers the
// whole state (publishedState.Rebuild). Each collection publishes the differences as changes of
// other writers. Its history begins after that, so watches and chunked lists from before end with
// 410.
//
// If the outcome of a write is unknown, its writer gets a timeout (leaveUndecided). A commit, if
// any, arrives like that of another writer. The reservation is kept until the log has answered a
// later batch; the publisher then releases it after everything that was published before
// (pendingRelease).
//
// # A read
//
// Get and List read the published snapshot of the collection and wait for no owner. A list at an
// older version is computed from the snapshot by undoing changes of the history (snapshotAt).
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
// A get, a write and a watch convert on their own goroutine and share the results. A list returns
// stored objects, which the caller converts part by part while it writes them. If a conversion
// needs a webhook (Options.Converter), it may block and fail. The list is then converted before it
// is returned. A failure is the answer to a get, list or write, and an ERROR event of a watch.
//
// Objects whose versions a webhook converts stay in the version in which they were written. Their
// changes are computed in the version of the request (versioned.go): by the owner if no conversion
// is needed, otherwise on the goroutine of the request, like a change whose admission blocks. Such
// changes of one object take turns (conversionTurns), so that they do not conflict again and again.
//
// # Invariants
//
//   - Nothing is visible before it is durable, and an answered writer can read its write.
//   - The order of versions is the order of commits and of every history.
//   - A mutateRequest is answered exactly once: by its object's actor, by a full or closed mailbox,
//     or, before it is sent, by its sender. If the answer has a proposal, its outcome is the
//     result. A proposal is resolved once: applied, aborted or left undecided.
//   - A proposal whose base was not committed is aborted, and its mutation is computed again.
//   - A create is committed only if its namespace and, for a custom kind, its CRD are unchanged
//     since they were checked.
//   - A reservation is committed or released, never both.
//   - A panic in a mutation returns 500 and restarts the object's actor from the published index; a
//     panic in a watch ends that watch. A panic of the committer or a publisher ends the process,
//     and recovery does the rest.
//
// # Stored objects that cannot be decoded
//
// Every candidate is decoded from its encoded bytes before it is proposed, by the scanner that
// recovery uses (codec.ReadBack). An object that recovery or the follower still cannot decode goes
// into the quarantine: its key counts as taken, every snapshot keeps it unchanged in the order of
// the keys, and a delete removes it. The last state of the deleted object has only a name. In the
// history, an unreadable commit is the deletion of its object.
//
// # Metadata in the journal
//
// The journal keeps with each write what watches that resume after a restart need of the previous
// state (previousState):
//
//	(none)            the object existed, and no selector can distinguish the states
//	01                the object is new
//	02 <JSON>         the previous state, whose labels or selectable fields differed
package actors
