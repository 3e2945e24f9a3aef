package persist

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Revision numbers the committed writes of a log: each has its own, and a later write has a
// greater one. They need not follow on each other. 0 means "none": the revision of a key that
// does not exist, or of an empty log.
type Revision uint64

// A Write is one change of one key, as asked for by the caller.
type Write struct {
	Key string
	// Value is the state to store or, for a Delete, the last state of the key. The caller leaves
	// the revision out: the log inserts its decimal digits at RevisionOffset; a negative offset
	// inserts nothing.
	Value          []byte
	RevisionOffset int
	// Delete removes the key. Value still travels to the subscriber.
	Delete bool
	// Metadata is a short remark for readers of the history that is not part of the state. It is
	// kept as long as the history is.
	Metadata []byte
	// Conditions must all hold when the write is committed, or it is refused.
	Conditions []Condition
	// BasedOn is the position in the same batch, counted from 1, of the write whose value this one
	// was computed from. This one is refused if that one was, or is not the newest of its key any
	// more. 0 means none.
	BasedOn int
	// With is the position in the same batch, counted from 1, of the write that this one is a part of. This one is
	// committed if and only if that one is: what both depend on stands in the conditions of that one. 0 means none.
	With int
	// Claims are taken and released together with the write.
	Claims []Claim
	// Guards must be as the write has seen them, or it is refused.
	Guards []Guard
	// FreesSpace says that the write makes the state smaller: a full disk accepts batches that
	// hold only such writes.
	FreesSpace bool
}

// ValueAt is a fresh copy of the value that holds the digits of a revision.
//
// Example: {"resourceVersion":""} with the offset 20 becomes {"resourceVersion":"42"}. The caller can so encode an
// object before it knows the revision, which keeps the encoding out of the single writer's way.
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

// A Condition holds while the newest write of Key has the given Revision and is no delete; 0 asks
// that the key does not exist.
type Condition struct {
	Key      string
	Revision Revision
}

// A Claim is a name that only one key may hold at a time, such as an address. The write that takes
// it is refused while another key holds it. A key that is deleted holds none.
type Claim struct {
	Name    string
	Release bool // the key gives the name back
}

// A Guard keeps writes of several logs apart that each were computed on a sum, such as what a quota counts, so that no condition on
// a key says what they depend on. A write that changes the sum raises the guard. Raise says that this one does; then
// it is refused if another log has raised the guard after the revision Seen, for the caller knows of its own. Else it is refused if
// any log has.
//
// A guard whose name begins with FencePrefix is a fence. It is raised by a log whose process takes something over, such as the work of
// controllers, and is kept for ever. A write that names it is refused for good (ErrFenced) if another log has raised it after
// the revision Seen, at which the sender has taken over itself: so what a process still writes that was paused comes to nothing.
type Guard struct {
	Name  string
	Seen  Revision
	Raise bool
}

// FencePrefix begins the names of fences.
const FencePrefix = "fence/"

// IsFence tells whether the guard is a fence.
func (g Guard) IsFence() bool { return strings.HasPrefix(g.Name, FencePrefix) }

// A Commit is a durable write. Value holds the digits of the revision.
type Commit struct {
	Revision Revision
	Time     time.Time // when the batch was written, or when the log has learned of that of another writer
	// Index is the position of the Write in the batch of the Append that is under way;
	// -1 for commits of earlier Appends, of recovery and of other writers.
	Index    int
	Key      string
	Value    []byte
	Delete   bool
	Metadata []byte
	// Err says why Value or Metadata cannot be read (Transformer). Value is then as it is stored.
	Err error
}

// A Result answers one Write of a batch.
type Result struct {
	// Revision is that of the write or, with ErrCondition, the one that the subscriber must have
	// applied to see what refused the write; 0 if it has applied it already.
	Revision Revision
	Err      error // nil, ErrCondition, ErrOvertaken, ErrFenced, ErrUnknown, ErrTooLarge or a TransformError
}

// An Item is the state of one key in a snapshot.
type Item struct {
	Key      string
	Value    []byte
	Revision Revision
	// Err says why Value cannot be read (Transformer). Value is then as it is stored, and a snapshot keeps it so.
	Err error
}

var (
	// ErrCondition refuses a write whose Conditions, BasedOn, With, Claims or Guards did not hold.
	ErrCondition = errors.New("condition does not hold")
	// ErrOvertaken is an ErrCondition by a Guard: nobody has changed the same key, so that it is worth another try for as long as
	// the caller has time.
	ErrOvertaken = fmt.Errorf("%w: another writer was faster", ErrCondition)
	// ErrFenced is an ErrCondition by a fence: another try makes no sense.
	ErrFenced = fmt.Errorf("%w: another writer has taken over", ErrCondition)
	// ErrUnknown says of a write that it may have been committed or not. If it was, the subscriber
	// receives it before a later Append answers without an error; after that it is never committed.
	ErrUnknown = errors.New("it is not known whether the write was committed")
	// ErrNoSpace refuses a whole batch because the disk is full. The log is as it was
	// before and accepts the next batch as soon as there is space.
	ErrNoSpace = errors.New("no space left")
	// ErrSpaceReleased is an ErrNoSpace of a snapshot after which there is space for another one.
	ErrSpaceReleased = fmt.Errorf("%w, but some has been released", ErrNoSpace)
	// ErrUnavailable refuses a whole batch because the store behind the log cannot be reached. The
	// log is as it was before and may accept the next batch.
	ErrUnavailable = errors.New("the store cannot be reached")
	// ErrTooLarge refuses a write that is larger than the store behind the log takes.
	ErrTooLarge = errors.New("the write is too large for the store")
	// ErrFailed says that the log can no longer tell what is durable, because a
	// sync failed. Nothing is accepted any more until the log is opened again.
	ErrFailed = errors.New("log has failed")
	// ErrLocked says that another process owns the data directory.
	ErrLocked = errors.New("data directory is in use")
)

// A Log keeps the state of keys and the order of their writes. Journal, one of its drivers, has a
// single writer; another may have many, each with a Log of its own. So a caller must be correct
// beside other writers, whichever driver it has:
//
//   - Revisions are what clients see as resource versions: unique, rising, and the same for every
//     reader of the log. Where the store behind a driver gives one number to several writes, the
//     driver shifts it and adds the position of the write in its batch. Readers wait for "at least
//     this revision", and never count on the next one.
//   - How a driver stores the digits of a revision is its own affair: the journal writes them into
//     the value, a store that tells the revision only afterwards keeps the offset and inserts them
//     (Write.ValueAt) when it hands out commits and items.
//   - Everything that is committed comes through the subscriber, in the order of revisions, once:
//     the caller's own writes, with their Index, while their Append is under way, and those of
//     others at any time. The caller keeps no state that it has not derived from there.
//   - A write that was computed on a state that somebody else has replaced meanwhile is refused
//     with ErrCondition. The caller waits until the subscriber has applied Result.Revision, computes
//     again, and gives up after some attempts. Asking again without waiting would only be refused again.
//   - A write with ErrUnknown is not sent a second time as it is: whatever is computed next has the
//     same condition, and so finds out. What was set aside for the write stays set aside until a
//     later Append has answered without an error, for only then it cannot be committed any more.
//   - What several keys must not have at once, such as an address, is in the Claims of the writes. A
//     log with several writers checks them with the Conditions, atomically. The Journal does not:
//     its one caller follows every commit and so knows all claims. The same holds for Guards.
//
// A log is used in this order: Recover once, then Subscribe once, then any number of
// Appends by one goroutine at a time, Snapshots by another, at last Close.
type Log interface {
	// Recover delivers the state at the newest intact snapshot, each key once in
	// ascending order, then calls Base with the snapshot's revision, then every
	// commit that the log still holds in ascending order: those up to the base are
	// history only (already contained in the state), those after it change the state.
	// It returns the newest revision of all.
	Recover(r Recovery) (Revision, error)

	// Subscribe names the function that receives all commits after those that Recover has
	// delivered, once they are durable, in ascending order and without a gap; Append answers after
	// its own. Each call says that nothing more is to come up to a revision, which is that of the
	// last commit of the batch or later; a call without commits says only that. Calls do not
	// overlap, but they come from any goroutine, also while no Append is under way. Their function
	// must not call the log.
	Subscribe(fn func(batch []Commit, upTo Revision))

	// Append checks the conditions of each write against the state and against the
	// earlier writes of the same batch, gives each one that passes a revision, in the order of the
	// batch, and returns when all of them are durable and the subscriber has received them. results
	// has one entry per write. An error other than nil means that none of the batch was committed,
	// and is ErrNoSpace, ErrUnavailable, ErrFailed or the cause of another refusal.
	Append(batch []Write) (results []Result, err error)

	// Snapshot writes the state at revision at, delivered by items in ascending order
	// of keys, and then drops the journal and the snapshots that are needed neither
	// for recovery nor for history since keepFrom (a revision). items is called once at most, so that
	// it may forget what it has delivered; an error of it breaks the snapshot off, and what is there stays. After ErrSpaceReleased it is worth
	// another try at once.
	Snapshot(at, keepFrom Revision, items func(yield func(Item) bool) error) error

	// Trim drops the journal that the newest snapshot makes superfluous and that no history
	// since keepFrom needs, without a new snapshot.
	Trim(keepFrom Revision) error

	// Stats reports sizes for metrics. It may be called at any time.
	Stats() Stats

	Close() error
}

// Recovery receives what Recover delivers. It leaves out what has no function.
type Recovery struct {
	Item func(Item) error
	Base func(Revision) error
	// HistoryAfter tells, if the log knows it, that every commit after a revision follows. It comes before the first of them, and once more
	// if those that came before do not lead there: they are no history then.
	HistoryAfter func(Revision)
	Commit       func(Commit) error
	// State is asked after the recovery; nil: the log keeps the revisions of all keys itself, and has one writer.
	State AppliedState
}

// An AppliedState is what the caller has made of the items and commits that it has received. It applies commits in its own
// time, so it may be behind the log.
type AppliedState interface {
	// CurrentRevision returns the revision of a key, by which later Appends check conditions; 0 if it does not exist.
	CurrentRevision(key string) Revision
	// AppliedRevision returns the revision up to which CurrentRevision reflects the commits.
	AppliedRevision() Revision
	// Rebuild takes the place of commits that a log with other writers cannot hand out any more, since the store behind it has
	// dropped them: it is called like the subscriber, with the state at the revision upTo. Whoever follows changes from before
	// has to begin anew. The error is that of items, and then nothing has changed.
	Rebuild(upTo Revision, items func(yield func(Item) error) error) error
}

// Stats are sizes and counts of a log since it was opened.
type Stats struct {
	JournalBytes, SnapshotBytes int64
	Segments, Snapshots         int
	Batches, Commits            uint64
	Syncs                       uint64
	SyncSeconds                 float64
	// SinceSnapshot is the number of journal bytes written after the newest snapshot.
	SinceSnapshot int64
	// SnapshotAtEnd says that a snapshot should be taken before the log is closed.
	SnapshotAtEnd bool
	// Full says that the disk was full when it was last tried.
	Full bool
}
