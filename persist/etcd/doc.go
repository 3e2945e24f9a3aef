// Package etcd is the driver of persist.Log that keeps the state in an etcd cluster, which several processes share. All of
// them write, and each follows what all have written.
//
// The nouns: a Log is one process's view of a prefix of keys; a batch is written in rounds, each one transaction; a unit is
// what of a batch is committed together, a write with its parts; a record is the key with which a log marks its
// transactions; the follower is the goroutine that reads the one watch of the prefix.
//
// # Keys
//
// All of them begin with the prefix (/troupe if nothing else is said):
//
//	/format               "troupe-etcd 1 <base>", decimal; written once
//	/filling              there before and while the store is filled from elsewhere (Fill): it is not to be opened
//	/labels/<name>        a label, such as the naming profile
//	/secrets/<name>       what all logs share and nobody else may know; encoded by the Transformer like a Secret
//	/objects/<key>        an object by the key of its write: a value
//	/claims/<name>        the key that holds a claim; <name> is that of the claim
//	/guards/<name>        changed by each transaction that raises the guard; without a value. Fences are guards: fence/<name>
//	/records/<writer>     the record of a log: 32 hexadecimal digits, new with each start of a process. Another
//	                      record, under a name of its own, is written whenever a log reads the whole state
//	/compaction           the revision of the newest compaction, decimal
//	/copies/<name>        marks of the copy that a data directory holds: one, or the one before and the newest
//
// # Revisions
//
// All writes of a transaction share one revision of etcd. Each has a position in it, from 0 to 126. The revision of a
// write is
//
//	base + (revision of etcd << 7 | position)
//
// so revisions rise with the order of the writes, are unique, and are the same for each reader: both parts are stored. The base
// is a multiple of 128. It is 0 in a new store, and lies above all revisions of the data directory in one that was filled from
// there. Position 127 stands for a revision of etcd that changes no object.
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
// The record of a log, written by each of its transactions, first of all that the transaction writes:
//
//	0  1  format, 1
//	1  v  number of the transaction, counted by the log from 1
//	   8  time in nanoseconds since 1970, big-endian
//	   .. notes, each: position (1 byte), flags (1 byte: 1 delete), key, value, metadata, each after its length
//	      (unsigned varint); value begins like that of an object
//
// Only writes that delete, or that have metadata, have a note: a deletion has no value in etcd, and metadata is no part of
// the state. A note counts only if its write was committed, which the events of the revision tell. A Transformer
// encodes the value and the metadata of a note, bound to the key.
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
// The conditions of a unit are comparisons of revisions of keys (mod_revision): of what it changes, of what it depends on,
// of its claims and of its guards. So a unit fails alone. etcd decides all comparisons on the state before the transaction, and takes a key once in
// it. A unit that concerns a key that an earlier unit of the round writes therefore waits for the next round, as one does that was
// computed on an earlier one (BasedOn). Rounds stay within the limits of etcd for operations and bytes of a request.
//
// # Invariants
//
//   - Everything that the subscriber receives comes from the watch, in the order of etcd's revisions; a revision comes as a whole.
//
//   - Append answers a write when the follower has delivered its revision. A unit that was refused is answered with that
//     revision too: what refused it lies before.
//
//   - One transaction of a log is under way at a time, and each compares the record. So if it is not known whether one was
//     committed, the next one that succeeds decides: if the watch has not shown the former up to there, it never will be.
//     Nothing is sent again before.
//
//   - A claim is a key that is compared and written with the unit that takes it: two logs never take one both.
//
//   - A guard is compared with what was delivered when the write was planned, and a write that has seen less is refused: of two logs that
//     raise one, the second to be committed has seen what the first has done. That holds for guards that were dropped for their age, too: who has
//     seen less than they told was paused, so that its record is gone as well. Its transaction fails by that, and it catches up before it plans
//     anew; what it had computed before is refused. So the first transaction of a log writes nothing but its record.
//
//   - If the history was compacted before the follower has read it, the state is read anew at one revision, and the caller
//     ends what would miss changes (persist.AppliedState.Rebuild).
//
//   - One log compacts at a time, and only what is older than the history that it promises and was no news one interval ago. Records
//     and guards that are as old go with it, but for fences.
//
//   - A log whose servers do not have the history that it has delivered, as after a restore, fails
//     (persist.ErrFailed) or reads the state anew. It confirms no read and commits nothing on the
//     lost history.
//
// # The fingerprint of the history
//
// A restore of a backup, or an etcd that was replaced, changes the history below a running log.
// Revisions do not show that: new writes give the revisions of the lost ones to other changes, and
// a log that was paused or cut off meanwhile finds greater revisions than it knows. The identity of
// the cluster may stay the same, too.
//
// The fingerprint is the newest record that was delivered: its revision, its writer and a digest of
// its value. No two records are alike, so servers that have it at its revision have the history up
// to there. It costs a hash of the record for each delivery and one comparison of a key in each
// transaction, and adds nothing to the format. It is verified
//
//   - when the watch is opened. The watch begins at the revision of the fingerprint instead of
//     behind what was delivered. It must show that record first, and no other record up to what was
//     delivered. Each watch has a gRPC stream of its own, which the client may not resume by
//     itself: it would do so behind the last event that it knows, at any server.
//   - in each transaction, by the comparison above;
//   - with each question for the newest revision, by the revision of the same key. If that was
//     written or deleted since, the watch must deliver it before the answer counts.
//
// Recover and a rebuild write a record first and read the state at its revision, so the first watch
// verifies that they have read one history. If the servers take no writes, there is no record: the
// first watch begins behind the state, and the state is read anew when the watch has to be opened
// again before a record was delivered. A compaction stays below the fingerprint. If another program
// has compacted further, or an older version of this one has deleted the record, the state is read
// anew.
//
// # A copy on the local disk
//
// persist.LocalCopy, with an origin: which servers, prefix and store, and a mark, 26 random
// letters. The mark is written to /copies/<name> after the state was delivered, and the copy counts
// when the watch has delivered the mark: a write alone may reach servers that have another history.
// So a store that holds the mark has in its history all that the copy has seen, and what has
// changed since is in the history after it. If that is compacted, the keys are listed with their
// revisions: what has the same one in both has the same value in both, and all else is read.
// Resources that a Transformer may change are not in the copy, which so says nothing of how they
// are stored. The newest 256 marks are kept.
//
// The key of a mark also keeps the mark before, unless its value is not the one that the log wrote
// last. The origin says "verified": older versions did not wait for the watch, and their copies are
// not used.
//
// # What is not there
//
// Nobody else may write below the prefix. A value that has no known format is handed out as one that cannot be read.
// Backups are etcd's own affair (etcdctl snapshot save). After a restore the revisions of etcd must
// be higher than before (etcdutl snapshot restore --bump-revision), or clients would see them twice.
package etcd
