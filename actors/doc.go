// Package actors is the house of owners: every object, every collection, the log and
// every watch has one actor that alone changes its state. Outside of the package there
// is only a Store.
//
// # Owners
//
//	actor      owns alone                                 takes                           may block on
//	object     the newest state of one key, committed     ask (a mutation)                nothing
//	           or on its way to the log
//	committer  the log, the order of versions             flight (an accepted mutation)   the log's sync; the
//	                                                                                      landing of a flight's base
//	publisher  one collection's index and kind; appends   changes (of a batch), tick,     nothing
//	           to its history                             reform (to another kind)
//	session    one watch: cursor, filter                  wakeUp, bookmarkDue, finish     its own client
//
// What others read of an owner's state is an immutable snapshot behind an atomic
// pointer. The exceptions are seven small tables with a mutex each, held for a few
// instructions and never while anything else is called that waits: horizon (versions
// that are visible), residents (addresses of object actors), watchers (addresses of
// sessions), pins (snapshots of chunked lists), retention (the budget that all histories
// share), the mailbox, and the crew (the goroutines
// that run actors). What objects share, such as the addresses of Services, has a register
// with a mutex outside (package allocation): owners of objects claim from it, and the
// landing of a flight keeps the claim or drops it.
//
// An object has an actor while anyone waits for a change of it, and a little longer. An
// actor that has nothing to do goes over to another object that needs one, with nothing
// of the first; one that has panicked does not. Who asks an idle object's actor runs it
// for that one message on its own goroutine; all else runs on the crew's.
//
// # Custom kinds
//
// The collections of built-in kinds are there from Open on; those of custom kinds come with
// Adopt, and never go. The table of collections is copied when one is added. When a definition
// changes, the collection's publisher brings the objects that there are into the form of the
// new kind, between two batches: they keep their versions. A change that was computed in the old form
// is brought into the new one when it is published.
//
// # The past
//
// A collection's history holds its recent changes. All histories share one budget of bytes
// (retention): what is too much, or too old, goes record by record, the oldest version of all
// first. A record counts what only the history keeps alive: the state that its change has
// replaced, of a removal the last state too, and a little for itself. Whose cursor falls out of
// the history is told so, and never misses a change. A snapshot that is pinned for a chunked list
// goes with the records behind it, since it would keep alive what nobody counts.
//
// Recovery makes the histories anew while it reads the journal, within the same budget, so that it
// needs no more memory than serving does. What the log holds of custom kinds is read by the head
// alone until all definitions are there.
//
// # The life of a write
//
// Mutate finds the object's actor, or lends it one, and asks. The actor computes the
// candidate (package mutation) on the newest state, even one that is still being
// committed, and sends it as a flight to the committer. The committer writes all
// flights that wait as one batch. The log, once the batch is durable, hands it to the
// collections; each puts its part into its index, publishes the new snapshot, wakes its
// watchers and lands the flights; only then Mutate answers.
//
// # Invariants
//
//   - Nothing is visible before it is durable; who was answered can read its write.
//   - Version order is commit order is the order of every history.
//   - A mutation is answered exactly once: by its object's actor, by its mailbox when
//     that is full or closed, or by its flight, which lands or aborts once.
//   - A flight on a base that did not land aborts, and its mutation is computed anew.
//   - A create is committed only while its namespace, and for a custom kind its definition,
//     is as it was seen.
//   - A panic in a mutation answers 500 and restarts the object's actor from the
//     published index; one in a watch ends that watch. A panic of the committer or of a
//     publisher ends the process, and recovery does the rest.
//
// # What is stored can be read
//
// Every candidate is read again from its encoded bytes before it goes to the committer, by the
// scanner that recovery uses (codec.ReadBack). What recovery cannot read nonetheless goes into the
// quarantine: its key counts as taken, it is in every snapshot as it is, in the order of the keys,
// and a delete, whose last state is an object with nothing but a name, takes it out. In the history a commit
// that cannot be read is the end of its object.
//
// # Notes in the journal
//
// A write carries a note for those who read the history back without the state before:
//
//	(none)            the object existed, and no selector can tell the states apart
//	01                the object is new
//	02 <JSON>         the state before, whose labels or selectable fields differed
package actors
