package persist

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/persist/vfs"
)

// The ballast is a preallocated file that is shrunk when the disk is full. Deletes and new segments
// shrink it in steps. The next snapshot shrinks it to minBallast, because the snapshot makes
// journal segments obsolete and thus frees space.
const (
	ballastFile     = "ballast"
	ballastStep     = 256 << 10
	minBallast      = 1<<20 + ballastStep
	ballastRounding = 1 << 20
	relogInterval   = time.Minute
)

// A ballast is the state of the ballast file. Append reads full without taking mu.
type ballast struct {
	mu          sync.Mutex
	file        vfs.File // nil: not created yet
	size        int64
	unsupported bool   // the file system cannot reserve space
	undersized  bool   // there is no space to reserve for the next snapshot
	lastErr     string // text of the last error, to avoid logging it again

	full       atomic.Bool  // a write found no space, and no space has been freed since
	lastLogged atomic.Int64 // when the full disk was last logged, nanoseconds since 1970
	// loggedFull is set when a full disk is logged, and cleared when its recovery is logged.
	loggedFull atomic.Bool
}

// refillBallast grows the ballast toward its target as far as space allows, and detects whether a
// full disk has space again. It runs once a second, and in Append while the disk is full. It
// shrinks the ballast only above twice the target, so that not every snapshot resizes the file.
func (j *Journal) refillBallast() {
	target := minBallast + j.snapshotEstimate()
	b := &j.ballast
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unsupported || !b.full.Load() && b.size >= target && b.size <= 2*target {
		return
	}
	j.disk.begin()
	defer j.disk.end()
	err := b.open(j)
	if err == nil {
		err = b.resize(target)
	}
	short := b.size < target
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		b.unsupported, short = true, false
		b.full.Store(false)
		if errors.Is(err, vfs.ErrVolatile) {
			break
		}
		j.o.Logger.Info("cannot reserve space on the file system", "dir", j.dir)
	case err == nil && b.full.Swap(false) && b.loggedFull.Swap(false):
		j.o.Logger.Info("the disk has space again", "dir", j.dir)
	case err != nil && !isFull(err) && err.Error() == b.lastErr:
	case err != nil && !isFull(err):
		b.lastErr = err.Error()
		j.o.Logger.Warn("cannot reserve space", "dir", j.dir, "error", err)
	case short && !b.undersized && !b.full.Load():
		j.o.Logger.Warn("the disk is too small to reserve space for the next snapshot", "dir", j.dir, "bytes", target)
	}
	b.undersized = short
}

func (b *ballast) open(j *Journal) (err error) {
	if b.file != nil {
		return nil
	}
	path := filepath.Join(j.dir, ballastFile)
	file, err := j.fs.OpenReadWrite(path)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = j.fs.Create(path)
	}
	if err != nil {
		return err
	}
	if b.size, err = file.Size(); err != nil {
		return errors.Join(err, file.Close())
	}
	b.file = file
	return nil
}

// resize allocates the minimum size, then the target. It also allocates and releases one extra
// step, because the disk counts as full until it has room for the ballast and one step.
func (b *ballast) resize(target int64) error {
	if b.size > 2*target {
		if err := b.file.Truncate(target); err != nil {
			return err
		}
		b.size = target
	}
	if b.size < minBallast {
		if err := b.file.Allocate(minBallast); err != nil {
			return errors.Join(err, b.file.Truncate(b.size))
		}
		b.size = minBallast
	}
	if b.size < target {
		if err := b.file.Allocate(target + ballastStep); err == nil {
			b.size = target
		} else if !isFull(err) {
			return errors.Join(err, b.file.Truncate(b.size))
		}
	}
	return errors.Join(b.file.Allocate(b.size+ballastStep), b.file.Truncate(b.size))
}

// snapshotEstimate returns an upper bound for the size of the next snapshot in bytes. It assumes
// that no write since the last snapshot replaced a value.
func (j *Journal) snapshotEstimate() int64 {
	j.inventory.mu.Lock()
	defer j.inventory.mu.Unlock()
	n := j.inventory.stats.SnapshotBytes + j.inventory.stats.SinceSnapshot
	return (n/ballastRounding + 1) * ballastRounding
}

// releaseBallast shrinks the ballast to left bytes and reports whether it freed space.
func (j *Journal) releaseBallast(left int64) bool {
	b := &j.ballast
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil || b.size <= left {
		return false
	}
	if err := errors.Join(b.file.Truncate(left), b.file.Sync()); err != nil {
		j.o.Logger.Warn("cannot release the reserved space", "error", err)
		return false
	}
	b.size = left
	return true
}

// retryWithBallast retries write while it fails for lack of space, and releases one step of the
// ballast before each retry. The caller holds j.writeMu.
func (j *Journal) retryWithBallast(write func() error) error {
	for {
		err := write()
		if !errors.Is(err, ErrNoSpace) {
			return err
		}
		j.ballast.mu.Lock()
		left := j.ballast.size - ballastStep
		j.ballast.mu.Unlock()
		if left < 0 || !j.releaseBallast(left) {
			return err
		}
	}
}

func (j *Journal) setDiskFull(what string) {
	b, now := &j.ballast, time.Now()
	if !b.full.Swap(true) && now.Sub(time.Unix(0, b.lastLogged.Load())) > relogInterval {
		b.lastLogged.Store(now.UnixNano())
		b.loggedFull.Store(true)
		j.o.Logger.Error("the disk is full: only deletes are accepted until space is freed", "dir", j.dir, "because", what)
	}
}

// deletesOnly reports whether a full disk accepts only deletes. It refills the ballast first, so
// that the first write after space is freed succeeds.
func (j *Journal) deletesOnly() bool {
	j.ballast.mu.Lock()
	kept := j.ballast.file != nil
	j.ballast.mu.Unlock()
	if kept {
		j.refillBallast() // space may have been freed
	}
	return kept && j.ballast.full.Load()
}

func (b *ballast) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil {
		return nil
	}
	return b.file.Close()
}
