package persist

import (
	"errors"
	"time"
)

// Revision numbers the committed writes of a log. The first write has revision 1;
// 0 means "none": the revision of a key that does not exist, or of an empty log.
type Revision uint64

// A Write is one change of one key, as asked for by the caller.
type Write struct {
	Key string
	// Value is the state to store or, for a Delete, the last state of the key.
	// The caller leaves the revision out: Slot is the offset in Value at which the
	// log inserts the revision's decimal digits; a negative Slot inserts nothing.
	Value          []byte
	RevisionOffset int
	// Delete removes the key. Value still travels to followers.
	Delete bool
	// Metadata is a short remark for followers that is not part of the state. It is
	// journaled with the write and forgotten with the journal.
	Metadata []byte
	// Conditions must all hold when the write is committed, or it is refused.
	Conditions []Condition
	// FreesSpace says that the write leads to less: on a full disk, a batch of such writes only may
	// use the room that is kept for them.
	FreesSpace bool
}

// A Condition holds while the last write of Key that is still alive has the given
// Revision; 0 asks that the key does not exist.
type Condition struct {
	Key      string
	Revision Revision
}

// A Commit is a durable write. Value holds the revision's digits.
type Commit struct {
	Revision Revision
	Time     time.Time // when the batch was written, by the writer's clock
	// Index is the position of the Write in the batch of the Append that is under way;
	// -1 for commits of earlier Appends, of recovery and of other writers.
	Index    int
	Key      string
	Value    []byte
	Delete   bool
	Metadata []byte
}

// A Result answers one Write of a batch: its revision, or ErrCondition.
type Result struct {
	Revision Revision
	Err      error
}

// An Item is the state of one key in a snapshot.
type Item struct {
	Key      string
	Value    []byte
	Revision Revision
}

var (
	// ErrCondition refuses a write whose Conditions did not hold.
	ErrCondition = errors.New("persist: condition does not hold")
	// ErrNoSpace refuses a whole batch because the disk is full. The log is as it was
	// before and accepts the next batch as soon as there is room.
	ErrNoSpace = errors.New("persist: no space left")
	// ErrFailed says that the log can no longer tell what is durable, because a
	// sync failed. Nothing is accepted any more until the log is opened anew.
	ErrFailed = errors.New("persist: log has failed")
	// ErrLocked says that another process owns the data directory.
	ErrLocked = errors.New("persist: data directory is in use")
)

// A Log keeps the state of keys and the order of their writes.
//
// A log is used in this order: Recover once, then Follow once, then any number of
// Appends by one goroutine at a time, Snapshots by another, at last Close. Others
// may write to the same log; nothing here promises to be the only writer.
type Log interface {
	// Recover delivers the state at the newest intact snapshot, each key once in
	// ascending order, then calls done(base) with the snapshot's revision, then every
	// commit that the log still holds in ascending order: those up to base are
	// history only (already contained in the state), those after it change the state.
	// It returns the newest revision ever assigned.
	Recover(r Recovery) (Revision, error)

	// Subscribe names the function that receives each batch of commits once it is
	// durable, in order, before Append answers. It is called by one goroutine at a time
	// and must not call the log.
	Subscribe(fn func(batch []Commit))

	// Append checks the conditions of each write against the state and against the
	// earlier writes of the same batch, gives each one that passes the next revision,
	// and returns when all of them are durable. results has one entry per write.
	// An error other than nil means that none of the batch was committed, and is
	// ErrNoSpace, ErrFailed or the cause of another refusal.
	Append(batch []Write) (results []Result, err error)

	// Snapshot writes the state at revision at, delivered by items in ascending order
	// of keys, and then drops the journal and the snapshots that are needed neither
	// for recovery nor for history since keepFrom (a revision).
	Snapshot(at, keepFrom Revision, items func(yield func(Item) bool)) error

	// Trim drops the journal that the newest snapshot makes superfluous and that no history
	// since keepFrom needs, without a new snapshot.
	Trim(keepFrom Revision) error

	// Stats reports sizes for metrics. It may be called at any time.
	Stats() Stats

	Close() error
}

// Recovery holds what the caller of Recover gives: functions that Recover calls, and
// two that later Appends call to check conditions.
type Recovery struct {
	Item   func(Item) error
	Base   func(Revision) error
	Commit func(Commit) error
	// CurrentRevision answers the revision of a live key, 0 if there is none, as far as the caller
	// has applied the followed commits. nil: the log keeps its own map.
	CurrentRevision func(key string) Revision
	// AppliedRevision answers the revision up to which Current reflects the followed commits.
	// nil: all that was followed before the current Append.
	AppliedRevision func() Revision
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
	// Full says that the disk was full when it was last tried.
	Full bool
}
