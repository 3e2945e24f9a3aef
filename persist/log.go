package persist

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Revision numbers a committed write of a log. Revisions are unique and increase, possibly with
// gaps. 0 is the revision of a missing key or an empty log.
type Revision uint64

// A Write is a requested change of one key.
type Write struct {
	Key string
	// Value is the state to store or, for a Delete, the last state of the key. The log inserts the
	// decimal digits of the revision at RevisionOffset, unless the offset is negative.
	Value          []byte
	RevisionOffset int
	// Delete removes the key. The subscriber still receives Value.
	Delete bool
	// Metadata is a short note for readers of the history. It is not part of the state, and is
	// dropped with the history.
	Metadata []byte
	// Conditions must all hold at commit time. Otherwise the write is rejected.
	Conditions []Condition
	// BasedOn refers to an earlier write of the same batch whose result this write was computed
	// from. It is the earlier write's index plus 1, or 0 if there is none. This write is rejected
	// if the earlier write was rejected or is no longer the newest write of its key.
	BasedOn int
	// With refers to another write of the same batch that this write is a part of. It is the other
	// write's index plus 1, or 0 if there is none. Both writes are committed, or neither is. Only
	// the other write may have Conditions, which then apply to both.
	With int
	// Claims are taken or released atomically with the write.
	Claims []Claim
	// Guards reject the write if one of them was raised after the revision in its Seen field.
	Guards []Guard
	// FreesSpace marks a write that deletes a key or prepares its deletion. A full disk accepts
	// only batches in which every write is marked.
	FreesSpace bool
}

// ValueAt returns a copy of the value with the digits of revision inserted. It lets callers encode
// an object before its revision is known.
//
// For example, {"resourceVersion":""} with offset 20 becomes {"resourceVersion":"42"}.
func (w *Write) ValueAt(revision Revision) []byte {
	if w.RevisionOffset < 0 {
		return bytes.Clone(w.Value)
	}
	var digits [20]byte
	d := strconv.AppendUint(digits[:0], uint64(revision), 10)
	out := make([]byte, 0, len(w.Value)+len(d))
	out = append(out, w.Value[:w.RevisionOffset]...)
	out = append(out, d...)
	return append(out, w.Value[w.RevisionOffset:]...)
}

// A Condition holds while the newest write of Key has the given Revision and is not a delete.
// Revision 0 requires that the key does not exist.
type Condition struct {
	Key      string
	Revision Revision
}

// A Claim is a name that only one key may hold at a time, such as an IP address. A write that takes
// a claim is rejected while another key holds it. Deleting a key releases its claims.
type Claim struct {
	Name    string
	Release bool // releases the claim instead of taking it
}

// A Guard orders writes of several logs that depend on an aggregate, such as a quota's usage.
// Conditions cannot express this, because they cover single keys. A write that changes the
// aggregate raises the guard (Raise). It is rejected if another log raised the guard after revision
// Seen. A write that only depends on the aggregate is rejected if any log, even its own, raised the
// guard after Seen.
//
// A guard whose name begins with FencePrefix is a fence, which is kept forever. A process that
// takes over some work, such as running controllers, raises the fence. Seen is the revision of the
// takeover. If another log has raised the fence since, writes are rejected permanently (ErrFenced).
// Late writes of a paused process thus have no effect.
type Guard struct {
	Name  string
	Seen  Revision
	Raise bool
}

// FencePrefix is the prefix of fence names.
const FencePrefix = "fence/"

// IsFence reports whether the guard is a fence.
func (g Guard) IsFence() bool { return strings.HasPrefix(g.Name, FencePrefix) }

// A Commit is a durable write. Value contains the digits of the revision.
type Commit struct {
	Revision Revision
	Time     time.Time // when the batch was written or, for another writer's batch, delivered
	// Index is the position of the Write in the batch of the current Append. It is -1 for commits
	// from earlier Appends, from recovery and from other writers.
	Index    int
	Key      string
	Value    []byte
	Delete   bool
	Metadata []byte
	// Err is set if the Transformer cannot decode Value or Metadata. Value then contains the stored
	// form.
	Err error
}

// A Result is the outcome of one Write of a batch.
type Result struct {
	// Revision is the revision of the write. With ErrCondition, it is the revision at which the
	// subscriber receives the conflicting change, or 0 if that was already applied.
	Revision Revision
	Err      error // nil, ErrCondition, ErrOvertaken, ErrFenced, ErrUnknown, ErrTooLarge or a TransformError
}

// An Item is the state of one key in a snapshot.
type Item struct {
	Key      string
	Value    []byte
	Revision Revision
	// Err is set if the Transformer cannot decode Value. Value then contains the stored form, which
	// snapshots keep.
	Err error
}

var (
	// ErrCondition rejects a write whose Conditions, BasedOn, With, Claims or Guards do not hold.
	ErrCondition = errors.New("condition does not hold")
	// ErrOvertaken is an ErrCondition caused by a Guard. The key itself is unchanged, so the caller
	// should recompute the write and retry until its deadline.
	ErrOvertaken = fmt.Errorf("%w: another writer was faster", ErrCondition)
	// ErrFenced is an ErrCondition caused by a fence. A retry cannot succeed.
	ErrFenced = fmt.Errorf("%w: another writer has taken over", ErrCondition)
	// ErrUnknown means that a write may or may not have been committed. A committed write reaches
	// the subscriber before the next successful Append returns. A write that has not reached the
	// subscriber by then was not committed.
	ErrUnknown = errors.New("it is not known whether the write was committed")
	// ErrNoSpace rejects a whole batch because the disk is full. The log is unchanged and accepts
	// batches again when there is space.
	ErrNoSpace = errors.New("no space left")
	// ErrSpaceReleased is an ErrNoSpace from a snapshot that freed enough space for a retry.
	ErrSpaceReleased = fmt.Errorf("%w, but some was freed", ErrNoSpace)
	// ErrUnavailable rejects a whole batch because the store behind the log is unreachable. The log
	// is unchanged and may accept the next batch.
	ErrUnavailable = errors.New("the store cannot be reached")
	// ErrTooLarge rejects a write that exceeds a size limit of the store behind the log.
	ErrTooLarge = errors.New("the write is too large for the store")
	// ErrFailed means that it is unknown which writes are durable, for example after a failed sync.
	// The log accepts nothing until it is reopened.
	ErrFailed = errors.New("log has failed")
	// ErrLocked means that another process has locked the data directory.
	ErrLocked = errors.New("data directory is in use")
)

// A Log stores keys and the order of their writes. One of its drivers, Journal, has a single
// writer. Other drivers may have several writers, each with its own Log. Callers must handle
// concurrent writers with any driver:
//
//   - Clients see revisions as resourceVersions. They are unique, increase, and are the same for
//     every reader. If the store behind a driver assigns one number to several writes, the driver
//     shifts this number and adds the position of each write in its batch. Readers wait for "at
//     least this revision" and must not expect a particular next one.
//   - Each driver decides how it stores a revision's digits. The journal writes them into the
//     value. A store that assigns the revision on commit keeps only the offset, and its driver
//     inserts the digits (Write.ValueAt) into commits and items.
//   - The subscriber receives every commit once, in revision order. The caller's own writes,
//     with their Index, arrive during their Append, and those of other writers at any time.
//     The caller must build its state only from these commits.
//   - A write based on outdated state fails with ErrCondition. The caller waits until the
//     subscriber has applied Result.Revision and then recomputes the write, a bounded number of
//     times. An immediate retry would fail again.
//   - A write with ErrUnknown is not retried unchanged. The key's next write has the same condition
//     and reveals the outcome. Reservations for the write must be kept until a later Append has
//     succeeded, because the write may still be committed until then.
//   - Claims hold values that must be unique among keys, such as an address. A log with
//     several writers checks them atomically with the Conditions. Journal does not check them,
//     because its only caller follows every commit and knows all claims. The same applies to
//     Guards.
//
// Call Recover once, then Subscribe once, then Append from one goroutine at a time and Snapshot
// from another, and finally Close.
//
//lint:ignore prose it is the contract of all drivers
type Log interface {
	// Recover calls Item for each key of the newest intact snapshot, in ascending order. It then
	// calls Base with the snapshot's revision, and Commit for every commit that the log still
	// contains, in ascending order. Only commits after the base change the state. Recover returns
	// the newest revision.
	Recover(r Recovery) (Revision, error)

	// Subscribe sets the function that receives all later commits once they are durable, in
	// ascending order and without gaps. Append returns after fn has received its commits. upTo is
	// the revision of the last commit, or a later revision if no commits lie in between. A call
	// without commits only reports upTo. Calls do not overlap, but may come from any goroutine,
	// even outside of an Append. fn must not call the log.
	Subscribe(fn func(batch []Commit, upTo Revision))

	// Append checks each write's conditions against the state and the earlier writes of the batch.
	// Writes that pass get revisions in batch order. Append returns when they are durable and the
	// subscriber has received them. results has one entry per write. An error such as ErrNoSpace or
	// ErrUnavailable means that nothing was committed. After ErrFailed, the outcome is unknown.
	Append(batch []Write) (results []Result, err error)

	// Snapshot writes the state at revision at, which items passes to yield in ascending key order.
	// It then drops segments and snapshots that neither recovery nor the history since keepFrom
	// needs. items is called at most once, so it may release items after passing them. If items
	// returns an error, the snapshot is discarded and nothing changes. After ErrSpaceReleased, the
	// caller should retry immediately.
	Snapshot(at, keepFrom Revision, items func(yield func(Item) bool) error) error

	// Trim drops the same parts of the journal as Snapshot, without writing a snapshot.
	Trim(keepFrom Revision) error

	// Stats returns sizes for metrics. It may be called at any time.
	Stats() Stats

	Close() error
}

// Recovery contains the callbacks of Recover. Each of them may be nil.
type Recovery struct {
	Item func(Item) error
	Base func(Revision) error
	// HistoryAfter is called before the first Commit. Its argument is the revision after which the
	// log has every commit. It is called again after each gap, because the history then begins
	// after the gap. Earlier commits are no longer part of the history.
	HistoryAfter func(Revision)
	Commit       func(Commit) error
	// State is used to check conditions after the recovery. If State is nil, the log must have a
	// single writer and tracks the revisions of all keys itself.
	State AppliedState
}

// An AppliedState is the caller's state, built from the received items and commits. It may lag
// behind the log, because the caller applies commits asynchronously.
type AppliedState interface {
	// CurrentRevision returns the revision of a key, or 0 if the key does not exist. Append checks
	// conditions against it.
	CurrentRevision(key string) Revision
	// AppliedRevision returns the newest revision that CurrentRevision reflects.
	AppliedRevision() Revision
	// Rebuild replaces the state with the state at revision upTo. A log with other writers calls
	// Rebuild instead of the subscriber if its store has compacted undelivered commits. Watches
	// that began before the rebuild must restart. If items returns an error, Rebuild returns it and
	// changes nothing.
	Rebuild(upTo Revision, items func(yield func(Item) error) error) error
}

// Stats contains the sizes of a log and its counters since it was opened.
type Stats struct {
	JournalBytes, SnapshotBytes int64
	Segments, Snapshots         int
	Batches, Commits            uint64
	Syncs                       uint64
	SyncSeconds                 float64
	// SinceSnapshot is the number of journal bytes after the newest snapshot.
	SinceSnapshot int64
	// SnapshotAtEnd reports whether the caller should write a snapshot before it closes the log.
	SnapshotAtEnd bool
	// Full reports whether the last write attempt found the disk full.
	Full bool
}
