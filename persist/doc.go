// Package persist keeps bytes that survive: revisions, keys and values, no kinds.
//
// Log is the contract; Journal is its embedded driver. Nouns: a Write is asked for, a Commit is
// durable, a batch of them is one frame in a segment of the journal, a snapshot is the state at
// one revision. Backup, Restore and Verify work on whole data directories.
//
// # Invariants
//
//   - Append syncs a batch before it hands it to the follower and answers. A failed sync or
//     write ends the journal (ErrFailed) and is never tried again; a full disk is undone (ErrNoSpace).
//     Room is kept beforehand, by a file without meaning: 1.25 MiB for batches that only free and
//     for the beginning of a segment, the rest for the next snapshot, which may be as large as the
//     last one and the journal since. While the disk is full, all else is refused.
//   - Revisions rise by one and are never reused: they are reserved, 1,048,576 at a time, before
//     they are given out. Restore leaps ahead by 2^44, and 100,000 for each second since the
//     backup; an accepted loss leaps beyond what was reserved. The state is then a snapshot
//     without a journal, so that every older revision lies before the history.
//   - What is missing is noticed: a segment is marked in the control file before it is used, its
//     end at least once a second while it grows, and when the journal is closed. A directory
//     that ends before its mark, or lacks its lock, labels or control file, is a DataLossError. It
//     opens with Options.AcceptDataLoss.
//   - Only the last batch of the last segment may be torn, and is cut off. All else that is not
//     as it was synced is a CorruptError. What was synced after the last mark and is then taken
//     away without a trace (zeroed sectors) looks like a write that never was. A damaged snapshot is logged and passed over only if
//     an older one (or none) and the journal yield all revisions.
//   - Nothing is deleted before what replaces it is durable and was read back.
//
// # Data directory
//
//	lock                          flock(2) of the owner; made with the directory only
//	format, labels                sealed files: {"format":2}; {"name":"value",...}
//	control                       the mark: what the journal holds at least
//	ballast                       room that is given up when the disk is full
//	restoring                     there while a Restore is unfinished; Open refuses
//	journal/<first>.journal       segments; <first> is a revision, 16 hexadecimal digits
//	snapshots/<at>.buntdb         BuntDB file: key -> revision (8 bytes, little-endian), value
//	snapshots/<at>.manifest       sealed file: revision, items, bytes, CRC-32C of each 256 KiB
//
// A sealed file is one line of JSON, then "crc32c %08x\n" of that line with its newline. It is
// written beside (.tmp), synced, renamed, and the directory synced. A snapshot without a
// manifest does not exist. Directories of format 1 have no control file; they get one, and then
// the new format, when they are opened, or with the first write that has room for them.
//
// # Control file
//
// Two sectors of 512 bytes, written in turn and in place: the valid one with the higher sequence
// counts. Beside a damaged one, which may have been newer, the other counts without its length,
// and twice as many more revisions as are reserved at a time may have been given out.
//
//	 0  8  "TROUPECT"
//	 8  4  checksum of bytes 12 to 511
//	12  4  format version, 1
//	16  8  sequence
//	24  4  flags: 1 the journal is closed, 2 written under SyncNone
//	28  4  checksum in the header of the last batch before the end; 0 if there is none
//	32  8  greatest revision that may have been given out
//	40  8  revision that the state has reached
//	48  8  first revision of the newest segment; 0 if there is none
//	56  8  offset behind the last batch that the segment holds at least
//	64  8  least length of the segment's file
//	72 40  boot identifier of the machine
//	   ..  zeros
//
// Before anything is cut off a segment, a mark takes the promise back. Under SyncNone nothing is
// promised behind a segment's header; if such a journal was not closed and the boot identifier
// is another one, revisions leap.
//
// # Segment
//
// All numbers are little-endian; all checksums are CRC-32C. The active segment is longer than
// its batches: zeros are written ahead of them, because a sync costs half where it changes
// neither a file's length nor its place on the disk; a segment that is left is cut to its
// batches. The header has 64 bytes:
//
//	 0  8  "TROUPEJL"
//	 8  4  checksum of bytes 12 to 63
//	12  4  format version, 1
//	16  8  first revision
//	24 40  zeros
//
// Frames follow, each beginning at a multiple of 64, so that no header straddles a sector:
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
// The payload holds for each write: flags (1 delete, 2 note), then key, value and, if flagged,
// note, each after its length as an unsigned varint. The value holds the revision's digits.
//
// # Torn or damaged
//
// The disk writes 512-byte sectors wholly or not at all, and what was never written reads as
// zeros or lies beyond the end. Only zeros up to the end of a segment are its reserve.
// So at the journal's end a frame is torn if the file is too
// short for it, or if each part with a wrong checksum is all zeros and no single flipped bit
// explains that. A wrong part that is not zeros, a wrong header that is not zeros, or an intact
// header behind the flaw is damage: a frame is only written once the one before is synced.
// Under SyncNone the last does not hold after a power cut, and the journal may be refused.
//
// # Backup
//
// Chunks of 16 bytes of header (kind, length, checksum of the body, checksum of the 12 bytes
// before) and a body: 1 head (JSON), 2 bytes of the snapshot file, 3 a batch (first, last,
// time: 8 bytes each, count: 4, payload), 4 end (JSON: revision, number of chunks before,
// checksum of their headers). One without its end is refused.
package persist
