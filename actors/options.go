package actors

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// Options configures a Store.
type Options struct {
	Log     persist.Log
	Catalog *catalog.Catalog
	Naming  *meta.Naming
	Logger  *slog.Logger
	Tuning  Tuning
	// Allocators maps a storage kind to the allocator of its unique values, such as addresses.
	Allocators map[meta.GroupResource]mutation.Allocator
	// Converter returns the converter of a kind whose conversion may block and fail, such as a
	// webhook, or nil for a kind with a built-in conversion. Converter may be nil if all
	// conversions are built in.
	Converter func(*schema.Kind) convert.Converter
	// Stale reports whether even a no-op write should rewrite a stored value, for example after the
	// encryption key changes. It may be nil.
	Stale func(key string, version persist.Revision) bool
	// Rewrites returns a counter that increases when more stored values become stale, for example
	// after a key change. The store then writes a snapshot, which rewrites all objects. Rewrites is
	// nil if Stale is nil or if snapshots cannot rewrite values.
	Rewrites func() uint64
	// Image is the state of another store of the same kinds. The log must be a copy of that store's
	// log (persist.Options.Checkpoint). If Image is nil, the state is recovered from the log.
	Image *Image
	// Observer receives every published change. It may be nil.
	Observer Observer
	// Recorder also receives every published change. It may be nil.
	Recorder *Recorder
	// Now is the clock. The default is time.Now.
	Now func() time.Time
	// ObjectTime is the clock for timestamps in objects. The default is Now.
	ObjectTime func() time.Time
	// Fatal is called once if the log fails or its commits cannot be published. The process must
	// then exit, so that it recovers at the next start. Fatal must not block.
	Fatal func(error)
}

// Strategy selects how the supervisor handles a panic in an actor.
type Strategy string

const (
	StrategyRestart = Strategy(runtime.Restart) // with fresh state, after a backoff
	StrategyResume  = Strategy(runtime.Resume)  // with its state
	StrategyStop    = Strategy(runtime.Stop)
)

// Tuning holds the settings of actors, commits and watches. The zero value is invalid. Start with
// DefaultTuning.
type Tuning struct {
	Strategy       Strategy
	MaxRestarts    int // maximum in RestartWindow; then the actor is stopped
	RestartWindow  time.Duration
	RestartBackoff time.Duration // delay before the first restart; doubles with each
	MailboxSize    int           // mutations that may wait for an object's actor; further ones get 429
	CommitQueue    int           // mutations that may wait for the committer; further ones get 429
	IdleTime       time.Duration // idle time after which an object's actor stops
	Throughput     int           // messages an actor handles before it yields
	BatchSize      int           // maximum number of mutations in one journal batch
	ObjectBytes    int           // maximum data size of one object; with metadata, it may be twice as large
	HistoryTime    time.Duration // how long changes are kept for watches
	HistoryBytes   int64         // maximum bytes of changes kept for all collections together
	MemoryBytes    int64         // soft limit for the bytes of objects and changes during recovery; 0: no limit
	SnapshotBytes  int64         // journal bytes after which a snapshot is taken
	BookmarkPeriod time.Duration // between the bookmarks of a watch
}

// DefaultTuning returns the default settings.
func DefaultTuning() Tuning {
	return Tuning{
		Strategy: StrategyRestart, MaxRestarts: 10, RestartWindow: 10 * time.Second, RestartBackoff: 10 * time.Millisecond,
		MailboxSize: 1024, CommitQueue: 65536, IdleTime: 10 * time.Second, Throughput: 300, BatchSize: 4096, ObjectBytes: mutation.DefaultMaxBytes,
		HistoryTime: 5 * time.Minute, HistoryBytes: 128 << 20, SnapshotBytes: 256 << 20, BookmarkPeriod: time.Minute,
	}
}

func (t Tuning) supervision() runtime.Supervision {
	return runtime.Supervision{Strategy: runtime.Strategy(t.Strategy), MaxRestarts: t.MaxRestarts, Window: t.RestartWindow, Backoff: t.RestartBackoff}
}

// Validate returns an error that lists all invalid settings.
func (t Tuning) Validate() error {
	var faults []error
	if t.Strategy != StrategyRestart && t.Strategy != StrategyResume && t.Strategy != StrategyStop {
		faults = append(faults, fmt.Errorf("strategy %q: must be restart, resume or stop", t.Strategy))
	}
	for _, s := range []struct {
		name  string
		value int64
	}{
		{"mailbox size", int64(t.MailboxSize)}, {"commit queue", int64(t.CommitQueue)}, {"throughput", int64(t.Throughput)},
		{"batch size", int64(t.BatchSize)}, {"object bytes", int64(t.ObjectBytes)}, {"history time", int64(t.HistoryTime)}, {"history bytes", t.HistoryBytes},
		{"snapshot bytes", t.SnapshotBytes}, {"idle time", int64(t.IdleTime)}, {"bookmark period", int64(t.BookmarkPeriod)},
	} {
		if s.value <= 0 {
			faults = append(faults, fmt.Errorf("%s must be above 0", s.name))
		}
	}
	if t.MaxRestarts < 0 || t.RestartWindow < 0 || t.RestartBackoff < 0 {
		faults = append(faults, errors.New("restart settings must not be negative"))
	}
	return errors.Join(faults...)
}
