// Package etcd implements persist.Log on an etcd cluster shared by several processes. Every process
// writes to the cluster and watches the writes of all others.
//
// A Log is one process's view of a key prefix. Its terms are:
//
//   - A unit is a persist.Write with its parts, which are committed atomically.
//   - A round is one etcd transaction. Append writes a batch in one or more rounds.
//   - A record is a log's own key, which each of its transactions writes.
//   - The follower is the goroutine that watches the prefix.
//
// # Keys
//
// All keys begin with the prefix (default /troupe):
//
//	/format               "troupe-etcd 1 <base>", decimal; written once
//	/filling              exists while Fill creates the store; Open rejects it
//	/labels/<name>        a store property, such as the naming profile
//	/secrets/<name>       a secret shared by all logs; encoded by the Transformer like a Secret
//	/objects/<key>        an object; the value format is below
//	/claims/<name>        the key that holds the claim <name>
//	/guards/<name>        empty; written by each transaction that raises the guard.
//	                      Fences are guards: fence/<name>
//	/records/<writer>     a log's record; <writer> is 32 hex digits, new with each start.
//	                      Each read of the whole state writes another record with a new name
//	/compaction           the revision of the newest compaction, decimal
//	/copies/<name>        marks of a local copy: the newest, and possibly the previous one
//
// # Revisions
//
// All writes of a transaction share one etcd revision. Each write has a position in the
// transaction, from 0 to 126. The revision of a write is
//
//	base + (etcd revision << 7 | position)
//
// The base is a multiple of 128. It is 0 in a new store. In a store filled from a data directory,
// it exceeds all revisions of that directory. Position 127 represents an etcd revision that changes
// no object.
//
// # Values
//
// The columns are offset, size (v: variable) and content. An object's value:
//
//	0  1  format version, 1
//	1  1  position of the write
//	2  v  unsigned varint: 1 + offset at which the revision is inserted; 0 if there is none
//	   v  the value without its revision, possibly encoded by a persist.Transformer
//
// A log's record, the first key that each of its transactions writes:
//
//	0  1  format version, 1
//	1  v  transaction number, counted by the log from 1
//	   8  time in nanoseconds since 1970, big-endian
//	   v  notes, each: position (1 byte), flags (1 byte: 1 delete), key, value, metadata, each
//	      preceded by its length (unsigned varint); the value begins like that of an object
//
// Only deletions and writes with metadata have a note. It is valid only if the events of the
// revision show that its write was committed. A Transformer encodes its value and metadata.
//
// # Transactions
//
//	if   the record still has the mod_revision of this log's last transaction,
//	     and the fingerprint's record (see below) is at least as new as delivered
//	then put the record
//	     for each unit: put and delete its keys and claims if its conditions hold
//	     for each guard raised by a unit: put it if it is unchanged
//	else get the record
//
// A unit's conditions compare the mod_revision of each key that it changes or depends on, and of
// its claims and guards. Units fail independently. etcd evaluates all comparisons on the state
// before the transaction. A unit therefore waits for the next round if an earlier unit writes one
// of its keys or is its base (BasedOn).
//
// # Invariants
//
//   - The subscriber receives only changes delivered by the watch, in the order of etcd's
//     revisions, one complete revision at a time.
//
//   - Append returns a write's result after the follower has delivered its revision. If a unit
//     was rejected, the conflicting write was delivered earlier.
//
//   - A log has one transaction in progress, and each transaction compares the record. If the
//     outcome of a transaction is unknown, the next successful one settles it: if the watch
//     has not delivered the unknown transaction by then, it was not committed and never will
//     be. Nothing is retried before that.
//
//   - Guards may be deleted because of their age. A log that missed such a guard was paused,
//     and its record was deleted too, so that its next transaction fails and the log catches
//     up. For this reason, a log's first transaction writes only its record.
//
//   - If unread history was compacted, the follower reads the whole state at one revision. The
//     caller then ends watches that would miss changes (persist.AppliedState.Rebuild).
//
//   - One log compacts at a time. It keeps the promised history and everything that was not
//     yet applied one interval ago. It also deletes records and guards older than the
//     compacted revision, except for fences.
//
//   - If the servers have a different history, as after a restore, the log fails
//     (persist.ErrFailed) or reloads the state.
//
// # History fingerprint
//
// Restoring a backup or replacing etcd changes the history under a running log. Neither revisions,
// which are reused, nor the cluster ID reveal the change.
//
// The fingerprint is the newest delivered record: its revision, its writer and a digest of its
// value. No two records are equal. Servers that have the record at that revision therefore share
// the history up to that point. The fingerprint is verified
//
//   - by each new watch, which begins at the fingerprint's revision and must deliver that
//     record first, and no other record among the revisions that were already delivered;
//   - in each transaction, by the comparison above;
//   - in each request for the newest revision, by the revision of the same key. If the record
//     was written or deleted since, the watch must deliver that change before the response is
//     used.
//
// Recover and rebuilds write a record and read the state at its revision. If the servers accept no
// writes, the first watch begins after the state. The state is reloaded if this watch ends before
// it has delivered a record, or if the fingerprint's record was compacted or deleted.
//
// # Local copy
//
// The copy is a persist.LocalCopy. Its origin identifies the servers, the prefix and the store, and
// contains a mark of 26 random letters, which is written to /copies/<name> after the state was
// delivered. The copy is valid once the watch has delivered the mark. A successful write of the
// mark is not enough, because it may have reached servers with another history. A store with this
// mark contains all data of the copy, and its history contains all later changes. Resources that a
// Transformer may change are not in the copy. The newest 256 marks are kept.
//
// # Limits
//
// No other program may write below the prefix. Backups are left to etcd. A restore must raise the
// revisions (etcdutl snapshot restore --bump-revision), or clients would see revisions twice.
package etcd
