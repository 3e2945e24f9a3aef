package persist

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/troupe-api/troupe/persist/vfs"
)

// A SyncPolicy says when appended batches are synced.
type SyncPolicy string

const (
	// SyncAlways syncs each batch before Append answers.
	SyncAlways SyncPolicy = "always"
	// SyncNone leaves batches to the operating system: they survive a kill of the process,
	// but a power cut may lose them and may leave a journal that is refused as damaged.
	SyncNone SyncPolicy = "none"
)

const defaultSegmentBytes = 64 << 20

// Options tune a Journal; the zero value is ready for use.
type Options struct {
	FS           vfs.FS       // nil: the operating system's
	SegmentBytes int64        // a segment that has reached this size gets a successor; 0: 64 MiB
	ReserveBytes int64        // zeros that are at least written ahead of the batches; 0: 64 KiB
	Sync         SyncPolicy   // "": SyncAlways
	Logger       *slog.Logger // nil: slog.Default()
	Now          func() time.Time
}

// Validate reports every fault of the options.
func (o Options) Validate() error {
	var errs []error
	if o.SegmentBytes < 0 {
		errs = append(errs, fmt.Errorf("persist: segment bytes %d is negative", o.SegmentBytes))
	}
	if o.ReserveBytes < 0 {
		errs = append(errs, fmt.Errorf("persist: reserve bytes %d is negative", o.ReserveBytes))
	}
	if o.Sync != "" && o.Sync != SyncAlways && o.Sync != SyncNone {
		errs = append(errs, fmt.Errorf("persist: unknown sync policy %q", o.Sync))
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.OS{}
	}
	if o.SegmentBytes == 0 {
		o.SegmentBytes = defaultSegmentBytes
	}
	if o.ReserveBytes == 0 {
		o.ReserveBytes = leastReserve
	}
	if o.Sync == "" {
		o.Sync = SyncAlways
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

var (
	errClosed       = errors.New("persist: log is closed")
	errNotRecovered = errors.New("persist: Recover must succeed first")
)

// A Journal is the embedded driver of Log: segments of batches and snapshots in one directory.
type Journal struct {
	dir    string
	fs     vfs.FS
	o      Options
	lock   io.Closer
	follow func([]Commit)

	writing   sync.Mutex                // held by Append, Recover and Close: owns the next block
	file      vfs.File                  // the active segment
	reserved  int64                     // how far it reaches; behind its last batch are zeros
	buf       []byte                    // the frame being written, reused
	recent    recent                    // what is appended but not yet applied by the caller
	currentOf func(key string) Revision // of Recovery; nil: own is kept
	applied   func() Revision           // of Recovery
	own       map[string]Revision

	maint sync.Mutex // held by Snapshot, SetLabel and while Backup opens its files

	mu        sync.Mutex // held for moments; guards what follows
	segments  []segment  // ascending; the last is the active one
	newest    Revision   // the newest revision ever assigned
	base      Revision   // of the newest snapshot
	hasBase   bool
	labels    map[string]string
	rotate    bool  // begin a new segment with the next batch
	failure   error // once set, nothing is accepted
	closed    bool
	recovered bool
	stats     Stats
}

var _ Log = (*Journal)(nil)

func journalDir(dir string) string   { return filepath.Join(dir, "journal") }
func snapshotsDir(dir string) string { return filepath.Join(dir, "snapshots") }

// Open takes the data directory, making it if it is missing. It reads no state: Recover does.
// The error is ErrLocked while somebody else holds the directory.
func Open(dir string, o Options) (*Journal, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	lock, err := takeDirectory(o.FS, dir)
	if err != nil {
		return nil, err
	}
	if err := prepareDirectory(o.FS, dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	labels, err := readLabels(o.FS, dir)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	j := &Journal{dir: dir, fs: o.FS, o: o, lock: lock, labels: labels, recent: recent{keys: map[string]recentKey{}}}
	return j, nil
}

// Follow implements Log.
func (j *Journal) Follow(fn func(batch []Commit)) { j.follow = fn }

// Stats implements Log.
func (j *Journal) Stats() Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.stats
	s.Segments = len(j.segments)
	for _, seg := range j.segments {
		s.JournalBytes += seg.size
	}
	return s
}

// Newest answers the newest revision that is durable.
func (j *Journal) Newest() Revision {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.newest
}

// Close gives the directory back. It waits for an Append or a Snapshot that is under way.
// A second Close does nothing.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.maint.Lock()
	defer j.maint.Unlock()
	j.mu.Lock()
	closed := j.closed
	j.closed = true
	j.mu.Unlock()
	if closed {
		return nil
	}
	var err error
	if j.file != nil {
		if n := len(j.segments); n > 0 && j.state() == nil {
			err = j.trim(j.segments[n-1].size)
		}
		err = errors.Join(err, j.file.Close())
	}
	return errors.Join(err, j.lock.Close())
}

// state answers why the journal accepts nothing, nil if it does.
func (j *Journal) state() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failure
}

// fail makes the journal refuse everything from now on.
func (j *Journal) fail(cause error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failure == nil {
		j.failure = fmt.Errorf("%w: %w", ErrFailed, cause)
		j.o.Logger.Error("the journal has failed and accepts nothing until it is opened anew", "dir", j.dir, "error", cause)
	}
	return j.failure
}

// noSpace marks an error about a full disk as ErrNoSpace.
func noSpace(err error) error {
	if isFull(err) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
