// Package actors holds the objects of the server and everything that changes them. Every object that
// is being changed, every collection, the log and every watch has an owner: an actor that alone changes
// its state. The rest of the server sees one type, Store, and clients a ClientStore over it, which answers
// them when what they wrote is in effect and with the newest state of all servers.
//
// The actors run in package internal/runtime, which alone knows the actor library. Objects that clients
// ask for in another version than the stored one are converted by package internal/conversion.
//
// # Owners
//
//	owner      what it alone changes                       messages                        may block on
//	object     the newest state of one key, committed or   mutateRequest                   nothing
//	           on its way to the log
//	committer  what is written to the log                  proposal (an accepted           the sync of the log; the
//	                                                       mutation)                       proposal before, until it
//	                                                                                       is applied
//	publisher  index, kind and history of one collection   changes (of a batch), tick,     nothing
//	                                                       rebuilt (another state in
//	                                                       place of changes that the log
//	                                                       has lost), migrateSchema (to another
//	                                                       version of the definition),
//	                                                       pendingRelease (of a
//	                                                       reservation), snapshotRequest
//	watch      cursor and filter of one watch              wakeUp, bookmarkDue             its own client; a
//	                                                                                       conversion for it
//
// The receiving side of the log, the follower, is no actor but a function (committer.publishBatch), which
// the log calls with each durable batch, one at a time and in the order of versions: with those of this
// process while the committer waits in Append, with those of other writers at any time. It does not
// block, and sends each collection its part (changes).
//
// What others read of an owner's state is an immutable snapshot behind an atomic pointer. Beside the
// owners there are a few tables with a mutex each, which is held for a few instructions and never while
// anything waits:
//
//	appliedRevision   the version up to which everything is published
//	activations       which actor owns which object
//	watchers          the watches of a collection
//	snapshotCache     snapshots from which chunked lists are being read
//	retention         the budget of bytes that all histories share
//	quarantine        stored objects that cannot be read
//	conversionTurns   who may change an object while a webhook is asked, and who waits for it
//
// Mailboxes, the pool of goroutines and the service for conversions have a mutex each too, and another one
// is held while a collection is added. What objects
// share, such as the addresses of Services, is kept outside (package allocation): owners of objects
// reserve from it, and the reservation becomes final when the proposal is applied. The requests
// themselves also reserve, for mutations that wait for admission.
//
// An object has an actor while anyone waits for a change of it, and a little longer. An idle actor is
// taken over by another object that needs one, without any state of the first; one that has panicked is
// not. A writer that asks an idle actor runs it for that one message on its own goroutine; everything
// else runs on the pool of goroutines.
//
// # Custom kinds
//
// The collections of built-in kinds exist from Open on. Those of custom kinds are added by RegisterKind,
// or by the follower if another writer has stored objects before the definition is known here, and removed
// by UnregisterKind, when they are empty; who has found the kind before is told that it is not defined. The table
// of collections is copied when one is added or removed. When a definition changes,
// its objects stay as they were written, with their versions, and are converted when they are read.
// Only the values of selectable fields, which are kept beside the objects, are computed again, by the
// publisher between two batches. A change that was computed before the definition changed gets them when
// it is published, and so does an object of another writer that was read without a definition.
//
// # History
//
// A collection's history holds its recent changes. All histories share one budget of bytes
// (retention): what exceeds it, or is too old, is dropped record by record, the oldest version of all
// collections first. A record counts what only the history keeps in memory: the state that its change
// has replaced, the last state of a deleted object, and a little for itself. A watch whose cursor points
// at a dropped record gets 410 Gone, and so never misses a change. A snapshot that is cached for a
// chunked list goes with the records after it, since it would keep objects in memory that nothing
// counts.
//
// Recovery rebuilds the histories while it reads the journal, within the same budget, so that it needs
// no more memory than serving does. Objects of custom kinds are read without a schema until all
// definitions have been read.
//
// # A write
//
// Mutate finds the object's actor, or activates one, and sends it the mutation. The actor computes the
// candidate (package mutation) on the newest state, even one that is still being committed, and sends it
// as a proposal to the committer. The committer writes all proposals that wait as one batch. When the
// batch is durable, the log hands it to the follower, which sends each collection its part. The
// publisher of a collection puts the changes into its index and history, publishes the new snapshot,
// wakes the watches and marks the proposals as applied; only then Mutate answers.
//
//	Store.Mutate             write.go        generates a name if asked to, converts the result
//	Store.askOwner           write.go        asks the owner until its answer holds
//	activation.ask           activation.go   sends the mutation, waits for reply and proposal
//	object.handle            object.go       computes the candidate
//	object.propose           object.go       sends it to the committer
//	committer.commit         committer.go    writes a batch
//	committer.publishBatch   publishbatch.go distributes it
//	publisher.publish        collection.go   makes it visible
//	proposal.markApplied     proposal.go     wakes the writer
//
// A change may have companions in another collection, such as the IPAddress of a Service's address (companions.go). They
// are proposals without an owner of their own: computed with the change on what is published, written with it
// (persist.Write.With) under the condition that it is still published so, and resolved with it. The proposal is applied when all
// its collections have published their parts.
//
// # Admission that may block
//
// Plugins run in the object's actor, on the newest state. A plugin that may block, such as a webhook, is
// registered so (request.MayBlock). If it handles a change, the actor hands out the prepared mutation
// with the version that it was computed on, and goes on with other mutations. The goroutine of the
// request runs the plugin (Store.admit), and the actor proposes the candidate (object.resume) if the
// object still has that version. If not, the mutation is computed and admitted again, up to
// maxAdmissions times; then it is answered with a conflict. Such plugins only see durable states: while
// a change of the object is being committed, the mutation waits for it.
//
// # Other writers
//
// Other processes may write to the same log, if its driver allows that. Their commits arrive at the
// follower like those of this process, but without a proposal, and collections treat both alike: index,
// history and watches make no difference. What objects share is reserved for the objects of other
// writers when their commits are published (observeAllocation).
//
// This process may know less than the log. Every write therefore carries what it depends on, and the log
// refuses it if that does not hold any more:
//
//   - Conditions: the version of the object, and of what a create depends on.
//   - BasedOn: the write of the same batch whose state it was computed on, which has no version yet.
//     If that one is refused, so is this one.
//   - Claims: the names, such as addresses, that it takes and gives back (addReserved).
//   - Guards: the sums, such as what a quota counts, that it was computed on (addReserved).
//
// A refused mutation waits until the change that was faster is applied here, and is computed again
// (retry.await), up to maxConflicts times; then it is answered with a conflict. One that a guard has refused is computed
// again for as long as the request waits.
//
// A log may drop changes before they have arrived here, as etcd does with what is compacted. It then hands out the whole state
// (publishedState.Rebuild). Each collection publishes what differs as the changes of other writers; its history begins after it, so
// that watches and chunked lists from before end with 410 and never miss a change.
//
// If the log cannot tell whether a write was committed, its writer is answered with a timeout
// (leaveUndecided). A commit, if there was one, arrives like that of another writer. What was reserved
// for the write stays reserved until the log has answered a later batch, and the publisher releases it
// after all that was published before (pendingRelease).
//
// # A read
//
// Get and List read the published snapshot of the collection and wait for no owner. A list of an older
// version is computed from the snapshot by undoing changes of the history (snapshotAt).
//
// # A watch
//
//	Store.Watch             watch.go        finds the start, spawns the owner, registers it
//	watchers.wake           watchers.go     the publisher wakes the watches that a batch may concern
//	watch.advance           watchevents.go  reads the history, selects, converts, sends
//	watch.end               watch.go        leaves the registry, tells the sink
//
// # Conversions
//
// Collections hold objects in one version, the stored one. Owners of objects and publishers never
// convert for readers. A get, the result of a write and a watch convert on their own goroutine, and share
// the results. A list answers stored objects, which the caller converts part by part with their Form
// while it writes them. Where a conversion is not built in but asks somebody outside
// (Options.Converter), it may wait and fail: the list is then converted before it is answered, a failure is
// the answer to a get, list or write, and an ERROR event to a watch.
//
// Objects whose versions a webhook converts stay stored in the version in which they were written. Their changes
// are computed in the version of the request (versioned.go): by the owner, if no conversion is needed, and otherwise on the
// goroutine of the request, like a change whose admission waits, on a state that must still be current when the owner gets
// the candidate. Those who wait so for one object take turns (conversionTurns), so that they do not beat each other again and
// again.
//
// # Invariants
//
//   - Nothing is visible before it is durable, and a writer that was answered can read its write.
//   - The order of versions is the order of commits and the order of every history.
//   - A mutateRequest is answered exactly once: by its object's actor, by the mailbox if that is full or
//     closed, or, before it is sent, by the one who sends it. Where the answer names a proposal, the
//     outcome is that of the proposal, which is resolved once: applied, aborted or left undecided.
//   - A proposal whose base was not committed is aborted, and its mutation is computed again.
//   - A create is committed only if its namespace and, for a custom kind, its definition are unchanged
//     since they were checked.
//   - A reservation becomes final or is released, never both.
//   - A panic in a mutation answers 500 and restarts the object's actor from the published index; a
//     panic in a watch ends that watch. A panic of the committer or of a publisher ends the process,
//     and recovery does the rest.
//
// # Stored objects that cannot be read
//
// Every candidate is read back from its encoded bytes before it goes to the committer, by the scanner
// that recovery uses (codec.ReadBack). An object that recovery cannot read nonetheless, or that another
// writer has stored and the follower cannot read, goes into the quarantine: its key counts as taken,
// every snapshot keeps it as it is, in the order of the keys, and a delete removes it. The last state of
// the deleted object is one that has nothing but a name. In the history, a commit that cannot be read is
// the deletion of its object.
//
// # Metadata in the journal
//
// The journal keeps, beside each written object, what watches need of the state before if they resume
// after a restart (previousState):
//
//	(none)            the object existed, and no selector can tell the states apart
//	01                the object is new
//	02 <JSON>         the state before, whose labels or selectable fields differed
package actors
