// Package etcd is the driver of persist.Log that keeps the state in an etcd cluster shared by
// several processes. All of them write, and each follows the writes of all.
//
// A Log is one process's view of a key prefix. A batch is written in rounds, each one transaction.
// A unit is a write with its parts, which are committed together. A record is the key with which a
// log marks its transactions. The follower is the goroutine that reads the one watch of the prefix.
//
// # Keys
//
// All keys begin with the prefix (default /troupe):
//
//	/format               "troupe-etcd 1 <base>", decimal; written once
//	/filling              exists before and while the store is filled (Fill); Open refuses it
//	/labels/<name>        a label, such as the naming profile
//	/secrets/<name>       a secret shared by all logs; encoded by the Transformer like a Secret
//	/objects/<key>        an object by the key of its write: a value
//	/claims/<name>        the key that holds the claim <name>
//	/guards/<name>        written by each transaction that raises the guard; empty.
//	                      Fences are guards: fence/<name>
//	/records/<writer>     the record of a log: 32 hexadecimal digits, new with each start.
//	                      Reading the whole state writes another one under a name of its own
//	/compaction           the revision of the newest compaction, decimal
//	/copies/<name>        marks of a data directory's local copy: one, or the previous and the newest
//
// # Revisions
//
// All writes of a transaction share one revision of etcd. Each has a position in it, from 0 to 126.
// The revision of a write is
//
//	base + (revision of etcd << 7 | position)
//
// so revisions rise in the order of writes, are unique, and the same for each reader: both parts
// are stored. The base is a multiple of 128. It is 0 in a new store. A store filled from a data
// directory has a base above all revisions of that directory. Position 127 is a revision of etcd
// that changes no object.
//
// # Values
//
// The value of an object:
//
//	0  1  format, 1
//	1  1  position of the write
//	2  v  unsigned varint: 1 + offset at which the digits of the revision belong; 0: nowhere
//	   .. the value without its revision; a persist.Transformer may have encoded it
//
// The record of a log, the first key that each of its transactions writes:
//
//	0  1  format, 1
//	1  v  number of the transaction, counted by the log from 1
//	   8  time in nanoseconds since 1970, big-endian
//	   .. notes, each: position (1 byte), flags (1 byte: 1 delete), key, value, metadata, each
//	      preceded by its length (unsigned varint); value begins like that of an object
//
// Only writes that delete or have metadata get a note: a deletion has no value in etcd, and
// metadata is not part of the state. A note counts only if its write was committed, which the
// events of the revision show. A Transformer encodes its value and metadata, bound to the key.
//
// # A transaction
//
//	if   the record has the revision of etcd that this log gave it last,
//	     and the record of the fingerprint (see below) is not older than it was delivered
//	then put the record
//	     for each unit: if its conditions hold, put and delete its keys and claims; else nothing
//	     for each guard that units raise: if it is as they have seen it, put it; else nothing
//	else get the record
//
// The conditions of a unit compare revisions of keys (mod_revision): those that it changes or
// depends on, its claims and its guards. So units fail independently. etcd evaluates all
// comparisons on the state before the transaction, and accepts a key once per transaction. So a
// unit waits for the next round if an earlier unit of the round writes one of its keys, or if it
// was computed from one (BasedOn). Rounds respect etcd's limits for operations and bytes.
//
// # Invariants
//
//   - Everything that the subscriber receives comes from the watch, in the order of etcd's
//     revisions, each revision as a whole.
//
//   - Append returns the result of a write when the follower has delivered its revision. That
//     includes refused units: what refused them precedes that revision.
//
//   - A log has one transaction in progress, and each compares the record. So if the outcome of one
//     is unknown, the next successful one decides: if the watch has not shown the first by then, it
//     was not committed and never will be. Nothing is retried before.
//
//   - A claim is a key that is compared and written with the unit that takes it, so no two logs can
//     take it.
//
//   - A guard is compared with the delivered state at planning time, and a write that has seen less
//     is refused. So the second of two logs that raise it has seen the effects of the first. The
//     same holds for guards that were deleted for their age: a log that missed them was paused, and
//     its record is gone too. So its transaction fails, it catches up and plans again, and earlier
//     results are refused. Therefore the first transaction of a log writes only its record.
//
//   - If the history was compacted before the follower has read it, it reads the whole state at one
//     revision, and the caller ends watches that would miss changes (persist.AppliedState.Rebuild).
//
//   - One log compacts at a time, and only what is older than the promised history and was applied
//     one interval ago. It also deletes records and guards of that age, except for fences.
//
//   - A log whose servers have another history than the delivered one, as after a restore, fails
//     (persist.ErrFailed) or reads the state again. It confirms no read and commits nothing on the
//     lost history.
//
// # The fingerprint of the history
//
// Restoring a backup or replacing etcd changes the history below a running log. Revisions do not
// reveal that: new writes reuse the revisions of lost ones, and a log that was paused meanwhile
// finds greater revisions than it knows. The cluster may even keep its identity.
//
// The fingerprint is the newest delivered record: its revision, its writer and a digest of its
// value. No two records are alike, so servers that have it at its revision have the history up to
// there. It costs a hash per delivery and a comparison per transaction, and needs no format of its
// own. It is verified
//
//   - when the watch is opened: the watch begins at the fingerprint's revision. It must show that
//     record first, and no other record up to what was delivered. Each watch has a gRPC stream of
//     its own, because the client would silently resume a shared one after the last known event, at
//     any server;
//   - in each transaction, by the comparison above;
//   - with each request for the newest revision, by the revision of the same key. If the record was
//     written or deleted since, the watch must deliver that before the response counts.
//
// Recover and rebuilds write a record first and read the state at its revision, so the first watch
// verifies that both belong to one history. If the servers accept no writes, there is no record:
// the first watch begins after the state, and the state is read again if the watch must be reopened
// before a record was delivered. Compaction stays below the fingerprint. If another program has
// compacted further, or an older version of this one has deleted the record, the state is read
// again.
//
// # A copy on the local disk
//
// The copy is a persist.LocalCopy whose origin names servers, prefix and store, and a mark of 26
// random letters. The mark is written to /copies/<name> after the state was delivered. The copy
// counts only when the watch has delivered the mark: a write alone may reach servers with another
// history. So a store with that mark contains everything in the copy, and later changes are in the
// history after it. If those are compacted, the keys are listed with their revisions, and only
// values with another revision are read. Resources that a Transformer may change are not in the
// copy. The newest 256 marks are kept.
//
// The key of a mark also keeps the previous mark, if its value is still the one that this log wrote
// last. The origin says "verified": older versions did not wait for the watch, and their copies are
// not used.
//
// # Limits
//
// No other program may write below the prefix. A value of unknown format is delivered as
// unreadable. Backups are left to etcd (etcdctl snapshot save). After a restore the revisions of
// etcd must be higher than before (etcdutl snapshot restore --bump-revision), or clients would see
// them twice.
package etcd
