// Package etcd implements persist.Log on an etcd cluster that several processes share. All of them
// write, and each follows the writes of all others.
//
// A Log is one process's view of a key prefix. A batch is written in rounds, and each round is one
// transaction. A unit is a write with its parts, which are committed together. A record is the key
// with which a log marks its transactions. The follower is the goroutine that watches the prefix.
//
// append.go and round.go write, with claims.go and guards.go for conditions across keys. follow.go
// and watches.go receive all writes, and read the state again after a compaction passed them.
// recover.go and history.go load the state at a start. compact.go drops old history.
//
// # Keys
//
// All keys begin with the prefix (default /troupe):
//
//	/format               "troupe-etcd 1 <base>", decimal; written once
//	/filling              exists while Fill creates the store; Open rejects it
//	/labels/<name>        a label, such as the naming profile
//	/secrets/<name>       a secret shared by all logs; encoded by the Transformer like a Secret
//	/objects/<key>        an object by the key of its write: a value
//	/claims/<name>        the key that holds the claim <name>
//	/guards/<name>        empty; written by each transaction that raises the guard.
//	                      Fences are guards: fence/<name>
//	/records/<writer>     the record of a log: 32 hexadecimal digits, new with each start.
//	                      Reading the whole state writes another record with a new name
//	/compaction           the revision of the newest compaction, decimal
//	/copies/<name>        marks of a local copy: the newest, and possibly the previous one
//
// # Revisions
//
// All writes of a transaction share one revision of etcd. Each has a position in it, from 0 to 126.
// The revision of a write is
//
//	base + (revision of etcd << 7 | position)
//
// Revisions are unique and increase in the order of writes. They are the same for all readers,
// because both parts are stored. The base is a multiple of 128. It is 0 in a new store. A store
// filled from a data directory has a base above all revisions of that directory. Position 127
// stands for a revision of etcd that changes no object.
//
// # Values
//
// The value of an object:
//
//	0  1  format, 1
//	1  1  position of the write
//	2  v  unsigned varint: 1 + offset at which the digits of the revision belong; 0: none
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
// Only writes that delete or have metadata get a note, because a deletion has no value in etcd and
// metadata is not part of the state. A note is valid only if its write was committed, which the
// events of the revision show. A Transformer encodes its value and metadata, bound to the key.
//
// # A transaction
//
//	if   the record has the revision of etcd that this log gave it last,
//	     and the record of the fingerprint (see below) is not older than it was delivered
//	then put the record
//	     for each unit: if its conditions hold, put and delete its keys and claims; else nothing
//	     for each guard that units raise: if it has not changed since, put it; else nothing
//	else get the record
//
// The conditions of a unit compare the mod_revision of each key that it changes or depends on, and
// of its claims and guards. Units fail independently. etcd evaluates all comparisons on the state
// before the transaction, and accepts a key once per transaction. A unit waits for the next round
// if an earlier unit writes one of its keys or is its base (BasedOn). Rounds respect etcd's limits
// for operations and bytes.
//
// # Invariants
//
//   - The subscriber receives only changes that come from the watch, in the order of etcd's
//     revisions, one whole revision at a time.
//
//   - Append returns the result of a write when the follower has delivered its revision. For a
//     rejected unit, the write that caused the rejection precedes that revision.
//
//   - A log has one transaction in progress, and each transaction compares the record. If the
//     outcome of a transaction is unknown, the next successful one settles it. If the watch has not
//     delivered the unknown one by then, it was not committed and never will be. Until then,
//     nothing is retried.
//
//   - A claim is a key that is compared and written with the unit that takes it, so two logs cannot
//     both take it.
//
//   - A guard is compared with the delivered state at planning time, and a write based on an older
//     state is rejected. The second of two logs that raise it has seen the effects of the
//     first. This also holds for guards that were deleted because of their age. A log that missed
//     them was paused, so its record was deleted too. Its transaction fails, it catches up and
//     plans again, and outdated results are rejected. Therefore the first transaction of a log
//     writes only its record.
//
//   - If the history was compacted before the follower has read it, the follower reads the whole
//     state at one revision. The caller then ends watches that would miss changes
//     (persist.AppliedState.Rebuild).
//
//   - One log compacts at a time. It keeps the promised history and whatever was not yet applied
//     one interval ago. It also deletes records and guards of the compacted age, except for fences.
//
//   - If the servers have a different history, as after a restore, the log fails
//     (persist.ErrFailed) or reads the state again. It confirms no read and commits nothing on the
//     lost history.
//
// # The fingerprint of the history
//
// Restoring a backup or replacing etcd changes the history under a running log. Revisions do not
// reveal that, because new writes reuse the revisions of lost ones. A log that was paused meanwhile
// even finds higher revisions than it has seen. The cluster ID may stay the same.
//
// The fingerprint is the newest delivered record: its revision, its writer and a digest of its
// value. No two records are equal, so servers that have the record at that revision have the same
// history up to there. The fingerprint costs a hash per delivery and a comparison per transaction,
// and needs no format of its own. It is verified
//
//   - when the watch is opened. The watch begins at the fingerprint's revision. It must show that
//     record first, and no other record among the delivered revisions. Each watch has its own gRPC
//     stream, because the client would silently resume a shared one at any server;
//   - in each transaction, by the comparison above;
//   - with each request for the newest revision, by the revision of the same key. If the record was
//     written or deleted since, the watch must deliver that change before the response is used.
//
// Recover and rebuilds write a record first and read the state at its revision. The first watch
// then verifies that both belong to the same history. If the servers accept no writes, there is no
// record. The first watch then begins after the state, and the state is read again if the watch
// must be reopened before a record was delivered. Compaction stays below the fingerprint. If
// another program has compacted further, or an older version of Troupe has deleted the record, the
// state is read again.
//
// # A copy on the local disk
//
// The copy is a persist.LocalCopy whose origin holds the servers, the prefix, the store and a mark
// of 26 random letters. The mark is written to /copies/<name> after the state was delivered. The
// copy is valid once the watch has delivered the mark, because a write alone may reach servers with
// another history. A store with that mark contains everything in the copy, and its history has all
// later changes. If those are compacted, the keys are listed with their revisions, and only values
// with other revisions are read. Resources that a Transformer may change are not in the copy. The
// newest 256 marks are kept.
//
// The key of a mark also keeps the previous mark, if its value is still the one that this log wrote
// last. The origin has the field "verified". Copies without it are not used, because older versions
// did not wait for the watch.
//
// # Limits
//
// No other program may write below the prefix. A value of unknown format is delivered as
// unreadable. Backups are left to etcd (etcdctl snapshot save). A restore must raise the revisions
// of etcd (etcdutl snapshot restore --bump-revision), or clients would see them twice.
package etcd
