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

// Options say what a store is made of.
type Options struct {
	Log     persist.Log
	Catalog *catalog.Catalog
	Naming  *meta.Naming
	Logger  *slog.Logger
	Tuning  Tuning
	// Allocators reserve, by storage, what only one object may have at a time, such as an address.
	Allocators map[meta.GroupResource]mutation.Allocator
	// Converter names who converts the objects of a kind, where that may wait and fail; it answers nil
	// for a kind whose conversion is built in. If it is nil, all are.
	Converter func(*schema.Kind) convert.Converter
	// Stale says whether what is stored of a key at a version should be written again even if a change leaves
	// it as it is, as after another encryption key has come into use; nil if nothing ever is.
	Stale func(key string, version persist.Revision) bool
	// Rewrites rises when more of what is stored has become so. A snapshot is then due, which writes all objects
	// anew. nil with Stale, and where no snapshot does that.
	Rewrites func() uint64
	// Observer is told of every change that is published; nil if nobody is.
	Observer Observer
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// ObjectTime is the clock of the times that are written into objects; nil is Now.
	ObjectTime func() time.Time
	// Fatal is called once when the log has failed or what it holds cannot be published: the process
	// must end, and recovery does the rest. It must not block.
	Fatal func(error)
}

// Strategy is what happens to an actor that has panicked.
type Strategy string

// The strategies.
const (
	StrategyRestart = Strategy(runtime.Restart) // with fresh state, after a back-off
	StrategyResume  = Strategy(runtime.Resume)  // with the state it has
	StrategyStop    = Strategy(runtime.Stop)
)

// Tuning are the settings of the configuration file that shape actors, commits and
// watches. The zero value is not valid; begin with DefaultTuning.
type Tuning struct {
	Strategy       Strategy
	MaxRestarts    int           // in RestartWindow; then the actor is stopped
	RestartWindow  time.Duration //
	RestartBackoff time.Duration // before the first restart; doubles with each
	MailboxSize    int           // mutations that may wait for an object's actor; more are answered 429
	CommitQueue    int           // mutations that may wait for the committer; more are answered 429
	IdleTime       time.Duration // after which an object's actor passivates
	Throughput     int           // messages an actor handles before it yields
	BatchSize      int           // most mutations in one journal batch
	ObjectBytes    int           // most data of one object; with its metadata it may be twice as large
	HistoryTime    time.Duration // how long changes are kept for watches
	HistoryBytes   int64         // most bytes of changes kept, of all collections together
	MemoryBytes    int64         // bytes of objects and changes that recovery tries not to exceed; 0: no limit
	SnapshotBytes  int64         // journal bytes after which a snapshot is taken
	BookmarkPeriod time.Duration // between the bookmarks of a watch
}

// DefaultTuning is the tuning of a server without a configuration file.
func DefaultTuning() Tuning {
	return Tuning{
		Strategy: StrategyRestart, MaxRestarts: 10, RestartWindow: 10 * time.Second, RestartBackoff: 10 * time.Millisecond,
		MailboxSize: 1024, CommitQueue: 65536, IdleTime: 10 * time.Second, Throughput: 300, BatchSize: 4096, ObjectBytes: mutation.DefaultMaxBytes,
		HistoryTime: 5 * time.Minute, HistoryBytes: 128 << 20, SnapshotBytes: 256 << 20, BookmarkPeriod: time.Minute,
	}
}

// supervision is what becomes of actors that panic.
func (t Tuning) supervision() runtime.Supervision {
	return runtime.Supervision{Strategy: runtime.Strategy(t.Strategy), MaxRestarts: t.MaxRestarts, Window: t.RestartWindow, Backoff: t.RestartBackoff}
}

// Validate reports every setting that is not valid.
func (t Tuning) Validate() error {
	var faults []error
	if t.Strategy != StrategyRestart && t.Strategy != StrategyResume && t.Strategy != StrategyStop {
		faults = append(faults, fmt.Errorf("strategy %q is none of restart, resume, stop", t.Strategy))
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
