package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/troupe-api/troupe/persist/vfs"
)

// A SyncPolicy selects when appended batches are synced.
type SyncPolicy string

const (
	// SyncAlways syncs each batch before Append returns.
	SyncAlways SyncPolicy = "always"
	// SyncNone leaves syncing to the operating system. Batches survive a kill of the process. A
	// power loss may lose them and leave a journal that Open rejects as damaged.
	SyncNone SyncPolicy = "none"
)

// defaultSegmentBytes is small, because the journal drops only whole segments and replays the rest
// at every startup.
const defaultSegmentBytes = 64 << 20

// Options configures a Journal. The zero value is ready for use.
type Options struct {
	FS           vfs.FS       // nil: the operating system's
	SegmentBytes int64        // size at which a new segment begins; 0: 64 MiB
	ReserveBytes int64        // minimum zero padding after the batches, in bytes; 0: 64 KiB
	ArchiveBytes int64        // limit for archived segments, the newest are kept; 0: no archive
	Sync         SyncPolicy   // "": SyncAlways
	Logger       *slog.Logger // nil: slog.Default()
	Now          func() time.Time
	// WatermarkInterval is the time between watermarks while the journal grows. 0 means 1 s. If it
	// is negative, watermarks are written only when necessary.
	WatermarkInterval time.Duration
	// AcceptDataLoss opens an incomplete directory with the remaining data. New revisions begin
	// above all revisions that may have been assigned before the loss.
	AcceptDataLoss bool
	// Transformer encodes and decodes values. If it is nil, they are stored unchanged.
	Transformer Transformer
	// Checkpoint states that the directory is a copy made by Freeze, whose state the caller already
	// has and passes as Recovery.State. Recover then delivers nothing.
	Checkpoint *Checkpoint

	bootID string // boot identifier: unsynced writes survive until the next boot
}

func (o Options) Validate() error {
	var errs []error
	if o.SegmentBytes < 0 {
		errs = append(errs, fmt.Errorf("segment bytes %d is negative", o.SegmentBytes))
	}
	if o.ReserveBytes < 0 {
		errs = append(errs, fmt.Errorf("reserve bytes %d is negative", o.ReserveBytes))
	}
	if o.ArchiveBytes < 0 {
		errs = append(errs, fmt.Errorf("archive bytes %d is negative", o.ArchiveBytes))
	}
	if o.Sync != "" && o.Sync != SyncAlways && o.Sync != SyncNone {
		errs = append(errs, fmt.Errorf("unknown sync policy %q", o.Sync))
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
		o.ReserveBytes = minReserve
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
	if o.WatermarkInterval == 0 {
		o.WatermarkInterval = defaultWatermarkInterval
	}
	if o.bootID == "" {
		o.bootID = machineBootID()
	}
	return o
}

func machineBootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(b[:min(bootIDBytes, len(bytes.TrimSpace(b)))])
}

var (
	errClosed       = errors.New("log is closed")
	errNotRecovered = errors.New("Recover must succeed first")
)

// A Journal is the embedded driver of Log. It keeps segments of batches and snapshots in one
// directory.
//
// writeMu serializes operations that append, and filesMu those that replace files. The lock order
// is writeMu, filesMu, labels.writing, control.mu, ballast.mu, then either inventory.mu or
// status.mu. The last two are never held during disk operations, so that Stats, Newest and Healthy
// never block. No other lock is taken while indexes.mu is held.
type Journal struct {
	dir        string
	fs         vfs.FS
	o          Options
	lock       vfs.Lock
	lockLost   bool // the lock file was removed or replaced, which is logged once
	subscriber func([]Commit, Revision)

	writeMu sync.Mutex // held by Append, Recover and Close; guards this block
	file    vfs.File   // the active segment
	buf     []byte     // reused buffer for the current frame
	states  keyStates

	filesMu sync.Mutex // held by Snapshot, SetLabel and while Backup opens its files

	status         status
	inventory      inventory
	labels         labels
	control        control
	ballast        ballast
	disk           ioTracker
	indexes        indexes
	endMaintenance func() // stops runMaintenance and waits; nil: it is not running
}

var (
	_ Log       = (*Journal)(nil)
	_ Historian = (*Journal)(nil)
)

func journalDir(dir string) string   { return filepath.Join(dir, "journal") }
func snapshotsDir(dir string) string { return filepath.Join(dir, "snapshots") }
func archiveDir(dir string) string   { return filepath.Join(dir, "archive") }

// Open locks the data directory, and creates it if it is missing. Call Recover next to read the
// state. Open returns ErrLocked while another process uses the directory.
func Open(dir string, o Options) (*Journal, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	lock, err := lockDirectory(o, dir)
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, fs: o.FS, o: o, lock: lock}
	if err := j.inspect(); err != nil {
		return nil, errors.Join(err, j.control.close(), lock.Close())
	}
	return j, nil
}

// inspect reads the files that decide whether the directory is usable. It reads no segments.
func (j *Journal) inspect() error {
	formatOf, err := prepareDirectory(j.fs, j.dir)
	if err != nil {
		return err
	}
	values, err := readLabels(j.fs, j.dir)
	j.labels.values.Store(&values)
	if lost := j.acceptsLoss(err); lost || err == nil && values[historyLabel] == "" {
		err = j.labels.replace(j.fs, j.dir, withHistory(values))
		if isFull(err) && !lost {
			err = nil // the next start retries
		}
	}
	if err != nil || formatOf == previousFormat {
		return err
	}
	m, fault, err := readControl(j.fs, j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = &DataLossError{File: filepath.Join(j.dir, controlFile), What: "is missing"}
	} else if err == nil && fault != nil {
		j.o.Logger.Warn("one of two records is damaged; the other is as good", "file", fault.File, "error", fault)
	}
	if j.acceptsLoss(err) {
		j.control.lost = true
		return nil
	}
	if err != nil {
		return err
	}
	return j.control.open(j.fs, j.dir, m)
}

func (j *Journal) acceptsLoss(err error) bool {
	if err == nil || !j.o.AcceptDataLoss {
		return false
	}
	j.o.Logger.Warn("accepted a data loss", "dir", j.dir, "error", err)
	return true
}

func (j *Journal) Subscribe(fn func(batch []Commit, upTo Revision)) { j.subscriber = fn }

func (j *Journal) Stats() Stats {
	j.inventory.mu.Lock()
	defer j.inventory.mu.Unlock()
	s := j.inventory.stats
	s.Segments = len(j.inventory.segments)
	s.Full = j.ballast.full.Load()
	for _, seg := range j.inventory.segments {
		s.JournalBytes += seg.size
	}
	return s
}

// Newest returns the newest durable revision.
func (j *Journal) Newest() Revision {
	j.inventory.mu.Lock()
	defer j.inventory.mu.Unlock()
	return j.inventory.newest
}

// Close waits for a running Append or Snapshot and releases the directory. It may be called twice.
// After a failure, Close writes no watermark, because the end of the durable data is unknown.
func (j *Journal) Close() error {
	j.writeMu.Lock()
	defer j.writeMu.Unlock()
	j.filesMu.Lock()
	defer j.filesMu.Unlock()
	if !j.status.close() {
		return nil
	}
	if j.endMaintenance != nil {
		j.endMaintenance()
	}
	var err error
	if j.file != nil {
		if j.status.failed() == nil {
			err = j.sealActiveSegment()
		}
		err = errors.Join(err, j.file.Close())
	}
	return errors.Join(err, j.control.close(), j.ballast.close(), j.lock.Close())
}

// fail makes the journal reject all further calls with the first cause. It never retries, because a
// second fsync may succeed without the data lost by the first.
func (j *Journal) fail(cause error) error {
	failure, first := j.status.fail(cause)
	if first {
		j.o.Logger.Error("the journal has failed and accepts no writes until it is reopened", "dir", j.dir, "error", cause)
	}
	return failure
}

func noSpace(err error) error {
	if isFull(err) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}

// isFull reports whether the disk or a quota is exhausted. Such errors are temporary and do not
// affect earlier writes.
func isFull(err error) bool {
	const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112) // Windows error codes
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		runtime.GOOS == "windows" && (errors.Is(err, handleDiskFull) || errors.Is(err, diskFull))
}
