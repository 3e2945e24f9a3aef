// Package persist stores revisioned key-value state durably. It handles revisions, keys and values,
// but not kinds.
//
// The Log interface supports any number of writers. Journal is its embedded driver for a single
// writer. A Write is a request, and a Commit is a durable write. A batch of commits is one frame in
// a segment of the journal.
//
// # Invariants of the journal
//
//   - Under SyncAlways, Append syncs a batch before it calls the subscriber and returns. After a
//     failed sync or write, the journal returns ErrFailed and never retries.
//   - A write that finds the disk full is rolled back (ErrNoSpace). Then only batches that free
//     space are accepted, and the ballast is used. This preallocated file holds 1.25 MiB for these
//     batches and a new segment, and the estimated size of the next snapshot.
//   - Revisions increase by one and are never assigned twice. They are reserved in blocks of
//     1,048,576 before they are assigned. Restore skips 2^44 revisions, plus 100,000 for each
//     second since the backup. After an accepted data loss, revisions continue above all reserved
//     ones. In both cases, the history begins after every older revision.
//   - The watermark in the control file records the minimum content of the directory. It is
//     written before a segment is used, at least once a second while the segment grows, and on
//     Close. A directory with less content, or without its lock, labels or control file, is a
//     DataLossError, which Options.AcceptDataLoss ignores.
//   - Only the last batch of the last segment may be torn, and is then truncated. Every other
//     difference from the synced bytes is a CorruptError, except zeroed sectors after the
//     watermark. A damaged snapshot is skipped only if an older one (or none) and the journal hold
//     all revisions.
//   - A file is deleted only after its replacement is durable and was read back.
//
// # Data directory
//
//	lock                          flock(2) of the owning process; created only with the directory
//	format, labels                checksummed files: {"format":2}; {"name":"value",...} with a random
//	                              name of the history; labels of the directory itself (local/...)
//	                              are not part of backups
//	control                       the watermark
//	ballast                       space that is released when the disk is full
//	restoring                     exists while a Restore is unfinished; Open refuses then
//	journal/<first>.journal       segments; <first> is a revision, 16 hexadecimal digits
//	archive/<first>.journal       segments for Restore only; may be deleted at any time, oldest first
//	index/<first>.index           positions of each key in a segment; may be deleted at any time
//	snapshots/<at>.buntdb         BuntDB file: key -> revision (8 bytes, little-endian), value
//	snapshots/<at>.manifest       checksummed file: revision, items, bytes, CRC-32C of each 256 KiB,
//	                              offsets of the parts, each a BuntDB file by itself; origin of a
//	                              LocalCopy
//
// A checksummed file is one line of JSON, then "crc32c %08x\n" of that line with its newline. It is
// written under a temporary name (.tmp) and renamed. A snapshot without a manifest is ignored.
// Directories of format 1 have no control file and get one when they are opened.
//
// # Control file
//
// Two sectors of 512 bytes are written alternately. The valid sector with the higher sequence
// number applies. If the other one is damaged, it may have been newer. The length in the valid
// sector is then ignored, and its greatest revision is raised by two reservations.
//
//	 0  8  "TROUPECT"
//	 8  4  checksum of bytes 12 to 511
//	12  4  format version, 1
//	16  8  sequence number
//	24  4  flags: 1 the journal is closed, 2 written under SyncNone
//	28  4  checksum in the header of the last batch before the end; 0 if there is none
//	32  8  greatest revision that may have been assigned
//	40  8  revision of the state
//	48  8  first revision of the newest segment; 0 if there is none
//	56  8  minimum end offset of the segment's last batch
//	64  8  minimum length of the segment's file
//	72 40  boot identifier of the machine
//	   ..  zeros
//
// Before a segment is shortened, a new watermark lowers its minimum length. Under SyncNone the
// watermark covers only the segment's header. If such a journal was not closed before a reboot (the
// boot identifier has changed), revisions continue above all reserved ones.
//
// # Segment
//
// All numbers are little-endian. All checksums are CRC-32C. Zeros pad the active segment, because a
// sync that changes neither the file's length nor its blocks costs half as much. The header has 64
// bytes:
//
//	 0  8  "TROUPEJL"
//	 8  4  checksum of bytes 12 to 63
//	12  4  format version, 1
//	16  8  first revision
//	24 40  zeros
//
// Frames follow, each at a multiple of 64, so that no header spans two sectors:
//
//	 0  4  "TRFB"
//	 4  4  checksum of bytes 8 to 63
//	 8  4  kind, 1
//	12  4  length of the payload
//	16  4  number of writes
//	20  4  checksum of table and padding
//	24  8  first revision
//	32  8  last revision
//	40  8  time, nanoseconds since 1970
//	48  8  offset of this frame in the segment
//	56  8  first revision of the segment
//	64  n  payload
//	    4k table: the checksum of each part of the payload that lies in one 512-byte sector
//	       padding 0xA5 to a multiple of 64
//
// For each write the payload holds flags (1 delete, 2 metadata), then key, value and, if flagged,
// metadata, each preceded by its length as an unsigned varint. The value contains the digits of its
// revision. The metadata belongs to the caller: package actors stores the previous state there. A
// Transformer may encode values and metadata. Backup, Restore, Verify and the recovery from a data
// loss copy them unchanged and need no keys.
//
// # Index
//
// A Past reads old commits. The first read of a sealed segment builds its index. A damaged index is
// rebuilt. The header has 64 bytes:
//
//	 0  8  "TROUPEIX"
//	 8  4  checksum of bytes 12 to 63
//	12  4  format version, 1
//	16  8  first revision of the segment
//	24  8  last revision of the segment
//	32  8  offset of the segment's last batch; 0 if it has none
//	40  4  checksum in the header of that batch
//	44  4  checksum of the entries
//	48  8  number of entries
//	56  8  zeros
//
// Entries of 8 bytes follow in ascending order, one for each batch and key that it writes: the
// batch's offset divided by 64 (4 bytes), then the CRC-32C of the key (4 bytes). The index of the
// active segment is in memory.
//
// # Torn or damaged
//
// A disk writes 512-byte sectors atomically, and unwritten sectors contain zeros. The last frame is
// therefore torn if the file is too short for it, or if every part with a wrong checksum contains
// only zeros and a single flipped bit cannot have caused this. Everything else is damage. An intact
// header after the fault is damage too, because a frame is written only after the previous one was
// synced. Under SyncNone, a power loss can break this rule, and the journal may then be rejected.
//
// A segment other than the newest ends where the next one begins. Bytes after that are ignored. The
// padding is truncated when the next segment begins. Another file may then reuse its blocks before
// a power loss restores the old length.
//
// # Backup
//
// A backup consists of chunks: 16 bytes of header (kind, length, checksum of the body, checksum of
// the 12 bytes before) and a body. The kinds are 1 head (JSON), 2 bytes of the snapshot file, 3 a
// batch (first, last, time: 8 bytes each, count: 4, payload), 4 end (JSON: revision, number of
// chunks before, checksum of their headers). A backup without its end is rejected.
//
// # Points in time
//
// Restore rebuilds the state at any revision. It begins with the preceding snapshot, in a backup or
// a data directory, and applies later batches from the backup, the archive and the journal.
// Archived segments are complete and never change. The label "history" differs between any two
// directories, so that journals of different directories are never combined.
package persist
