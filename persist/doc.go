// Package persist keeps bytes that survive: revisions, keys and values, no kinds.
//
// Log is the contract, in prose and for any number of writers; Journal is its embedded driver, with
// one writer. A Write is asked for; a Commit is durable; a batch of them is one frame in a segment of
// the journal; a snapshot is the state at one revision. Backup, Restore and Verify work on whole data
// directories.
//
// # Invariants of the journal
//
//   - Append syncs a batch before it hands it to the subscriber and answers. A failed sync or write
//     ends the journal (ErrFailed) and is never tried again. A write that finds the disk full is taken
//     back (ErrNoSpace).
//   - Space for a full disk is kept in advance, by a file without content (ballast): 1.25 MiB for
//     batches that only free space and for the beginning of a segment, and as much as the next snapshot
//     may need, which is the size of the last one and of the journal since. While the disk is full,
//     batches that do not free space are refused.
//   - The revisions of the journal rise by one and are never given out twice. They are reserved,
//     1,048,576 at a time, before they are given out. Restore continues 2^44 higher, and 100,000 higher
//     for each second since the backup; after data loss that was accepted, revisions continue above
//     all that were reserved. The state is then a snapshot without a journal, so that every older
//     revision lies before the history.
//   - Missing data is noticed. The watermark in the control file says what the directory holds at
//     least: it is written before a segment is used, at least once a second while the segment grows,
//     and when the journal is closed. A directory that holds less, or lacks its lock, labels or
//     control file, is a DataLossError. Options.AcceptDataLoss opens it.
//   - Only the last batch of the last segment may be torn, and is then cut off. Every other difference
//     from what was synced is a CorruptError, with one exception: sectors after the watermark that
//     are set to zero look like a write that never happened. A damaged snapshot is logged and skipped
//     only if an older one (or none) and the journal hold all revisions.
//   - A file is deleted only after what replaces it is durable and was read back.
//
// # Data directory
//
//	lock                          flock(2) of the process that uses it; made with the directory only
//	format, labels                checksummed files: {"format":2}; {"name":"value",...}, with a random name of the history
//	                              and labels of the directory itself (local/...), which no backup holds
//	control                       the watermark
//	ballast                       space that is given up when the disk is full
//	restoring                     exists while a Restore is unfinished; Open refuses then
//	journal/<first>.journal       segments; <first> is a revision, 16 hexadecimal digits
//	archive/<first>.journal       segments that only Restore reads; they may go at any time, the oldest first
//	snapshots/<at>.buntdb         BuntDB file: key -> revision (8 bytes, little-endian), value
//	snapshots/<at>.manifest       checksummed file: revision, items, bytes, CRC-32C of each 256 KiB, where
//	                              each part begins, which is a BuntDB file by itself; of a LocalCopy also its origin
//
// A checksummed file is one line of JSON, then "crc32c %08x\n" of that line with its newline. It is
// written under another name (.tmp), synced, renamed, and the directory synced. A snapshot without a
// manifest does not exist. Directories of format 1 have no control file; they get one, and then
// the new format, when they are opened, or with the first write that has space for them.
//
// # Control file
//
// Two sectors of 512 bytes, written in turn and in place: the valid one with the higher sequence
// number counts. If one of them is damaged, it may have been the newer one. The other then counts
// without its length, and with twice as many more revisions as are reserved at a time.
//
//	 0  8  "TROUPECT"
//	 8  4  checksum of bytes 12 to 511
//	12  4  format version, 1
//	16  8  sequence number
//	24  4  flags: 1 the journal is closed, 2 written under SyncNone
//	28  4  checksum in the header of the last batch before the end; 0 if there is none
//	32  8  greatest revision that may have been given out
//	40  8  revision that the state has reached
//	48  8  first revision of the newest segment; 0 if there is none
//	56  8  offset after the last batch that the segment holds at least
//	64  8  least length of the segment's file
//	72 40  boot identifier of the machine
//	   ..  zeros
//
// Before a segment is made shorter, a new watermark lowers its least length. Under SyncNone the
// watermark covers only the header of the segment; if such a journal was not closed and the boot
// identifier is a different one, revisions continue above all that were reserved.
//
// # Segment
//
// All numbers are little-endian; all checksums are CRC-32C. The active segment is longer than
// its batches: zeros are written ahead of them, because a sync costs half if it changes
// neither a file's length nor its place on the disk. When the next segment begins, it is cut to its
// batches. The header has 64 bytes:
//
//	 0  8  "TROUPEJL"
//	 8  4  checksum of bytes 12 to 63
//	12  4  format version, 1
//	16  8  first revision
//	24 40  zeros
//
// Frames follow, each beginning at a multiple of 64, so that no header lies in two sectors:
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
// The payload holds for each write: flags (1 delete, 2 metadata), then key, value and, if flagged,
// metadata, each after its length as an unsigned varint. The value contains the digits of its
// revision. The metadata is the caller's: package actors stores the previous state there.
//
// A Transformer may change values and metadata before they are written, here and in snapshots, each bound to its
// key and its revision; package encryption describes what is then stored. Backup, Restore, Verify and what is done
// after a data loss carry such values as they are, and need no keys.
//
// # Torn or damaged
//
// The disk writes 512-byte sectors wholly or not at all, and what was never written reads as
// zeros or lies beyond the end. The zeros that are written ahead reach to the end of a segment. So at
// the end of the journal a frame is torn if the file is too short for it, or if each part with a
// wrong checksum is all zeros and no single flipped bit explains that. A wrong part that is not
// zeros, a wrong header that is not zeros, or an intact header after the fault is damage: a frame is
// only written once the one before is synced. Under SyncNone the last does not hold after a power
// cut, and the journal may be refused.
//
// A segment that is not the newest ends where the next one goes on. What follows there is ignored, and logged: where the zeros are cut off, the
// blocks may have been given to another file before a power cut that brings the old length back.
//
// # Backup
//
// Chunks of 16 bytes of header (kind, length, checksum of the body, checksum of the 12 bytes
// before) and a body: 1 head (JSON), 2 bytes of the snapshot file, 3 a batch (first, last,
// time: 8 bytes each, count: 4, payload), 4 end (JSON: revision, number of chunks before,
// checksum of their headers). A backup without its end is refused.
//
// # Points in time
//
// Restore makes the state of any revision from the snapshot before it, in a backup or in a data directory, and the batches after that, in the
// backup, in the archive and in the journal. Segments of the archive are whole and never change; on a full disk they are the first to go.
// Label "history" keeps the journals of two directories apart, whose revisions may look as if one followed the other: each
// directory that is made has its own.
package persist
