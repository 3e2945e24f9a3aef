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

// A SyncPolicy says when appended batches are synced.
type SyncPolicy string

const (
	// SyncAlways syncs each batch before Append answers.
	SyncAlways SyncPolicy = "always"
	// SyncNone leaves batches to the operating system: they survive a kill of the process,
	// but a power cut may lose them and may leave a journal that is refused as damaged.
	SyncNone SyncPolicy = "none"
)

// defaultSegmentBytes is a compromise: history is dropped segment by segment, and a start lists and reads those that
// are left.
const defaultSegmentBytes = 64 << 20

// Options tune a Journal; the zero value is ready for use.
type Options struct {
	FS           vfs.FS       // nil: the operating system's
	SegmentBytes int64        // a segment that has reached this size gets a successor; 0: 64 MiB
	ReserveBytes int64        // zeros that are at least written ahead of the batches; 0: 64 KiB
	ArchiveBytes int64        // segments that are needed no more are archived, the newest up to so many bytes; 0: they are removed
	Sync         SyncPolicy   // "": SyncAlways
	Logger       *slog.Logger // nil: slog.Default()
	Now          func() time.Time
	// WatermarkInterval is how often the watermark is written while the journal grows; 0: 1 s, and
	// negative: only when it must be.
	WatermarkInterval time.Duration
	// AcceptDataLoss opens a directory that lacks something, with what is left. Revisions continue
	// above all that can have been given out.
	AcceptDataLoss bool
	// Transformer changes values on their way to the disk and back; nil: they are stored as they are.
	Transformer Transformer

	bootID string // of the machine: what was written, but not synced, survives until the next boot
}

// Validate reports every fault of the options.
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

// machineBootID identifies the time since the machine was started; "" if the system does not tell.
func machineBootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(b[:min(bootIDBytes, len(bytes.TrimSpace(b)))])
}

var (
	errClosed       = errors.New("log is closed")
	errNotRecovered = errors.New("Recover must succeed first")
)

// A Journal is the embedded driver of Log: segments of batches and snapshots in one directory.
//
// Two locks keep operations apart: writeMu those that append, filesMu those that replace files. Each part has a
// lock of its own for what it holds. Where several are held, they are taken in the order writeMu, filesMu,
// labels.writing, control.mu, ballast.mu, and one of inventory.mu and status.mu. Those two are never held during an
// operation of the disk, so that Stats, Newest and Healthy answer at once.
type Journal struct {
	dir        string
	fs         vfs.FS
	o          Options
	lock       vfs.Lock
	lockLost   bool // it was removed or replaced, which is logged
	subscriber func([]Commit, Revision)

	writeMu sync.Mutex // held by Append, Recover and Close; guards this block
	file    vfs.File   // the active segment
	buf     []byte     // the frame being written, reused
	states  keyStates

	filesMu sync.Mutex // held by Snapshot, SetLabel and while Backup opens its files

	status         status
	inventory      inventory
	labels         labels
	control        control
	ballast        ballast
	disk           ioTracker
	endMaintenance func() // waits for the end of runMaintenance; nil: it does not run
}

var _ Log = (*Journal)(nil)

func journalDir(dir string) string   { return filepath.Join(dir, "journal") }
func snapshotsDir(dir string) string { return filepath.Join(dir, "snapshots") }
func archiveDir(dir string) string   { return filepath.Join(dir, "archive") }

// Open takes the data directory, making it if it is missing. It reads no state: Recover does.
// The error is ErrLocked while another process uses the directory.
func Open(dir string, o Options) (*Journal, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	lock, err := lockDirectory(o, dir)
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, fs: o.FS, o: o, lock: lock, states: keyStates{recent: recent{keys: map[string]keyState{}}}}
	if err := j.inspect(); err != nil {
		return nil, errors.Join(err, j.control.close(), lock.Close())
	}
	return j, nil
}

// inspect reads everything except the state.
//
// What it reads decides whether the directory may be used at all, and is small: the format, the labels and the
// watermark. Whatever has to read segments is left to Recover.
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
			err = nil // the next start tries again
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

// acceptsLoss says whether an error is a data loss that the options accept.
func (j *Journal) acceptsLoss(err error) bool {
	if err == nil || !j.o.AcceptDataLoss {
		return false
	}
	j.o.Logger.Warn("a loss is accepted", "dir", j.dir, "error", err)
	return true
}

// Subscribe implements Log.
func (j *Journal) Subscribe(fn func(batch []Commit, upTo Revision)) { j.subscriber = fn }

// Stats implements Log.
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

// Newest answers the newest revision that is durable.
func (j *Journal) Newest() Revision {
	j.inventory.mu.Lock()
	defer j.inventory.mu.Unlock()
	return j.inventory.newest
}

// Close gives the directory back. It waits for an Append or a Snapshot that is under way.
// A second Close does nothing.
//
// The watermark of a journal that was closed says so (clean). A journal that has failed is closed without one, since
// it cannot tell where it ends.
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

// fail makes the journal refuse everything from now on.
//
// The first cause is kept: those after it follow from it. Nothing is tried again, as after a failed sync a second one
// may succeed without having written what the first one lost.
func (j *Journal) fail(cause error) error {
	failure, first := j.status.fail(cause)
	if first {
		j.o.Logger.Error("the journal has failed and accepts nothing until it is opened anew", "dir", j.dir, "error", cause)
	}
	return failure
}

// noSpace marks an error about a full disk as ErrNoSpace.
func noSpace(err error) error {
	if isFull(err) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}

// isFull says whether an error means a full disk or an exhausted quota: both can pass, and neither says anything
// about what was written before.
func isFull(err error) bool {
	const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112) // of Windows
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		runtime.GOOS == "windows" && (errors.Is(err, handleDiskFull) || errors.Is(err, diskFull))
}
