package persist

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Revision numbers the committed writes of a log. Each write has its own, later writes have greater
// ones, and gaps are allowed. 0 means "none": the revision of a missing key or of an empty log.
type Revision uint64

// A Write is a requested change of one key.
type Write struct {
	Key string
	// Value is the state to store or, for a Delete, the last state of the key. The log inserts the
	// decimal digits of the revision at RevisionOffset, or nothing if the offset is negative.
	Value          []byte
	RevisionOffset int
	// Delete removes the key. The subscriber still receives Value.
	Delete bool
	// Metadata is a short note for readers of the history, and not part of the state. It is kept as
	// long as the history.
	Metadata []byte
	// Conditions must all hold at commit time, or the write is refused.
	Conditions []Condition
	// BasedOn is the 1-based position in the same batch of the write whose value this one was
	// computed from, or 0. This write is refused if that one was, or is no longer the newest of its
	// key.
	BasedOn int
	// With is the 1-based position in the same batch of the write that this one belongs to, or 0.
	// Both are committed or neither is; the conditions of both are on that one.
	With int
	// Claims are taken and released together with the write.
	Claims []Claim
	// Guards must be unchanged since the write saw them, or it is refused.
	Guards []Guard
	// FreesSpace marks a write that deletes, or a step of a deletion. On a full disk, only batches
	// of such writes are accepted.
	FreesSpace bool
}

// ValueAt returns a fresh copy of the value with the digits of revision inserted.
//
// Example: {"resourceVersion":""} with offset 20 becomes {"resourceVersion":"42"}. So callers can
// encode an object before its revision is known, outside of the single writer.
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

// A Claim is a name that only one key may hold at a time, such as an address. A write that takes a
// claim is refused while another key holds it. A deleted key holds none.
type Claim struct {
	Name    string
	Release bool // the key gives the claim back
}

// A Guard orders writes of several logs that depend on an aggregate, such as a quota's usage, which
// no condition on a key covers. A write that changes the aggregate raises the guard (Raise); it is
// refused if another log raised the guard after revision Seen. Without Raise, a write is refused if
// any log did.
//
// A guard whose name begins with FencePrefix is a fence. A process that takes over some work, such
// as running controllers, raises it, and it is kept forever. A write that names a fence is refused
// for good (ErrFenced) if another log raised it after revision Seen, at which the sender took over.
// So late writes of a paused process have no effect.
type Guard struct {
	Name  string
	Seen  Revision
	Raise bool
}

// FencePrefix begins the names of fences.
const FencePrefix = "fence/"

// IsFence reports whether the guard is a fence.
func (g Guard) IsFence() bool { return strings.HasPrefix(g.Name, FencePrefix) }

// A Commit is a durable write. Value contains the digits of the revision.
type Commit struct {
	Revision Revision
	Time     time.Time // when the batch was written, or when the log learned of another writer's
	// Index is the position of the Write in the batch of the current Append. It is -1 for commits
	// of earlier Appends, of the recovery and of other writers.
	Index    int
	Key      string
	Value    []byte
	Delete   bool
	Metadata []byte
	// Err is the reason why Value or Metadata cannot be read (Transformer). Value is then as
	// stored.
	Err error
}

// A Result is the outcome of one Write of a batch.
type Result struct {
	// Revision is that of the write. With ErrCondition, it is the one that the subscriber must have
	// applied to see the cause of the refusal; 0 if it has applied it already.
	Revision Revision
	Err      error // nil, ErrCondition, ErrOvertaken, ErrFenced, ErrUnknown, ErrTooLarge or a TransformError
}

// An Item is the state of one key in a snapshot.
type Item struct {
	Key      string
	Value    []byte
	Revision Revision
	// Err is the reason why Value cannot be read (Transformer). Value is then as stored, and
	// snapshots keep it so.
	Err error
}

var (
	// ErrCondition refuses a write whose Conditions, BasedOn, With, Claims or Guards did not hold.
	ErrCondition = errors.New("condition does not hold")
	// ErrOvertaken is an ErrCondition caused by a Guard. The key itself is unchanged, so a retry is
	// worthwhile as long as the caller has time.
	ErrOvertaken = fmt.Errorf("%w: another writer was faster", ErrCondition)
	// ErrFenced is an ErrCondition caused by a fence. A retry is pointless.
	ErrFenced = fmt.Errorf("%w: another writer has taken over", ErrCondition)
	// ErrUnknown means that a write may or may not have been committed. If it was, the subscriber
	// receives it before a later Append returns without an error; after that it is never committed.
	ErrUnknown = errors.New("it is not known whether the write was committed")
	// ErrNoSpace refuses a whole batch because the disk is full. The log is unchanged, and accepts
	// batches again as soon as there is space.
	ErrNoSpace = errors.New("no space left")
	// ErrSpaceReleased is an ErrNoSpace of a snapshot after which there is space for a retry.
	ErrSpaceReleased = fmt.Errorf("%w, but some was freed", ErrNoSpace)
	// ErrUnavailable refuses a whole batch because the store behind the log is unreachable. The log
	// is unchanged and may accept the next batch.
	ErrUnavailable = errors.New("the store cannot be reached")
	// ErrTooLarge refuses a write that exceeds a size limit of the store behind the log.
	ErrTooLarge = errors.New("the write is too large for the store")
	// ErrFailed means that a sync failed, so it is unknown what is durable. The log accepts nothing
	// until it is reopened.
	ErrFailed = errors.New("log has failed")
	// ErrLocked means that another process owns the data directory.
	ErrLocked = errors.New("data directory is in use")
)

// A Log keeps the state of keys and the order of their writes. Journal, one of its drivers, has a
// single writer; another driver may have many, each with its own Log. Callers must be correct with
// concurrent writers, whatever the driver:
//
//   - Clients see revisions as resource versions: unique, rising, and the same for every reader. If
//     the store behind a driver gives several writes one number, the driver shifts that number and
//     adds the position of the write in its batch. Readers wait for "at least this revision" and
//     must not expect a particular next one.
//   - Each driver decides how it stores the digits of a revision. The journal writes them into the
//     value. A store that assigns the revision only on commit keeps the offset, and its driver
//     inserts the digits (Write.ValueAt) into commits and items.
//   - The subscriber receives every commit once, in the order of revisions: the caller's own
//     writes, with their Index, during their Append, and those of other writers at any time. The
//     caller keeps no state from any other source.
//   - A write that was computed from an outdated state is refused with ErrCondition. The caller
//     waits until the subscriber has applied Result.Revision, computes the write again, and gives
//     up after some attempts. A retry without waiting would be refused again.
//   - A write with ErrUnknown is not retried as it is. The next write of the key has the same
//     condition and so finds out. What was reserved for the write stays reserved until a later
//     Append has returned without an error, because only then it can no longer be committed.
//   - Claims hold what several keys must not have at once, such as an address. A log with several
//     writers checks them atomically with the Conditions. Journal does not: its one caller follows
//     every commit and knows all claims. The same holds for Guards.
//
// Call Recover once, then Subscribe once, then Append from one goroutine at a time and Snapshot
// from another, and finally Close.
//
//lint:ignore prose it is the contract of all drivers
type Log interface {
	// Recover delivers the state at the newest intact snapshot, each key once and in ascending
	// order, then calls Base with the snapshot's revision. Then it delivers all commits that the
	// log still holds, in ascending order. Those up to the base are only history; later ones change
	// the state. It returns the newest revision.
	Recover(r Recovery) (Revision, error)

	// Subscribe sets the function that receives all commits after the recovered ones, once they are
	// durable, in ascending order and without a gap. Append returns after fn has received its
	// commits. upTo is the revision of the batch's last commit or a later one; nothing more follows
	// up to there. A call without commits reports only that. Calls do not overlap, but come from
	// any goroutine, also outside of an Append. fn must not call the log.
	Subscribe(fn func(batch []Commit, upTo Revision))

	// Append checks the conditions of each write against the state and the earlier writes of the
	// batch. Writes that pass get revisions in the order of the batch. Append returns when all of
	// them are durable and the subscriber has received them; results has one entry per write. An
	// error means that nothing was committed: ErrNoSpace, ErrUnavailable, ErrFailed or another
	// cause.
	Append(batch []Write) (results []Result, err error)

	// Snapshot writes the state at revision at, which items delivers in ascending order of keys.
	// Then it drops journal and snapshots that neither recovery nor the history since keepFrom
	// needs. items is called at most once and may discard what it has delivered; its error aborts
	// the snapshot and leaves everything as it was. After ErrSpaceReleased, an immediate retry is
	// worthwhile.
	Snapshot(at, keepFrom Revision, items func(yield func(Item) bool) error) error

	// Trim drops the journal that neither the newest snapshot nor the history since keepFrom needs,
	// without writing a snapshot.
	Trim(keepFrom Revision) error

	// Stats returns sizes for metrics. It may be called at any time.
	Stats() Stats

	Close() error
}

// Recovery receives what Recover delivers. Nil functions are skipped.
type Recovery struct {
	Item func(Item) error
	Base func(Revision) error
	// HistoryAfter reports, if the log knows it, that every commit after a revision follows. It is
	// called before the first of them, and again if the commits so far do not lead there; those are
	// then no history.
	HistoryAfter func(Revision)
	Commit       func(Commit) error
	// State is queried after the recovery. If it is nil, the log keeps the revisions of all keys
	// itself and has one writer.
	State AppliedState
}

// An AppliedState is the caller's state, made of the received items and commits. It may be behind
// the log, because the caller applies commits asynchronously.
type AppliedState interface {
	// CurrentRevision returns the revision of a key, against which later Appends check conditions;
	// 0 if it does not exist.
	CurrentRevision(key string) Revision
	// AppliedRevision returns the revision up to which CurrentRevision reflects the commits.
	AppliedRevision() Revision
	// Rebuild replaces commits that a log with other writers can no longer deliver, because the
	// store behind it has dropped them. It is called like the subscriber, with the state at
	// revision upTo. Watches from before must start over. Its error is that of items; nothing has
	// changed then.
	Rebuild(upTo Revision, items func(yield func(Item) error) error) error
}

// Stats are sizes and counts of a log since it was opened.
type Stats struct {
	JournalBytes, SnapshotBytes int64
	Segments, Snapshots         int
	Batches, Commits            uint64
	Syncs                       uint64
	SyncSeconds                 float64
	// SinceSnapshot is the number of journal bytes after the newest snapshot.
	SinceSnapshot int64
	// SnapshotAtEnd requests a snapshot before the log is closed.
	SnapshotAtEnd bool
	// Full reports whether the disk was full at the last attempt.
	Full bool
}
