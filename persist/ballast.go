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

// The ballast is a file that takes space in advance, to be given up when the disk is full: a
// step at a time for deletes and for the beginning of a segment, and what is beyond
// minBallast for the next snapshot, which makes the journal before it superfluous.
const (
	ballastFile     = "ballast"
	ballastStep     = 256 << 10
	minBallast      = 1<<20 + ballastStep
	ballastRounding = 1 << 20
	relogInterval   = time.Minute
)

// The file is allocated and not written: its blocks belong to it, and giving it its size takes no time that grows
// with it. Whether the disk is full is remembered in full, an atomic, because every Append asks; the rest is rare and
// has a lock.
type ballast struct {
	mu          sync.Mutex
	file        vfs.File // nil: there is none yet
	size        int64
	unsupported bool   // by the file system
	undersized  bool   // there is no space to keep for the next snapshot
	lastErr     string // of the last attempt, not to be logged again

	full       atomic.Bool  // a write found no space, and there has been none since
	lastLogged atomic.Int64 // when it was last logged that the disk is full, nanoseconds since 1970
	// loggedFull says that it was logged that the disk is full, and not yet that it is no longer.
	loggedFull atomic.Bool
}

// refillBallast gives the ballast its size as far as there is space, and finds out whether some is
// left for other things.
//
// It is called once a second, and by Append while the disk is full. In the usual case, when the size is right and the
// disk is not full, it costs a lock and two comparisons. Up to twice the target is left alone, so that the file is
// not resized with each snapshot.
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
		j.o.Logger.Info("the file system cannot keep room for the time when it is full", "dir", j.dir)
	case err == nil && b.full.Swap(false) && b.loggedFull.Swap(false):
		j.o.Logger.Info("the disk has room again", "dir", j.dir)
	case err != nil && !isFull(err) && err.Error() == b.lastErr:
	case err != nil && !isFull(err):
		b.lastErr = err.Error()
		j.o.Logger.Warn("room cannot be kept", "dir", j.dir, "error", err)
	case short && !b.undersized && !b.full.Load():
		j.o.Logger.Warn("the disk is too small to keep room for the next snapshot", "dir", j.dir, "bytes", target)
	}
	b.undersized = short
}

// open opens the file that an earlier run has left, with the size it had, or makes one.
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

// resize takes the least size, then the rest. Its error is nil if there is space for a step more.
//
// A step more than is kept is allocated and given back at once. That is how it finds out whether others have room
// too: the disk counts as full until a step is left beside the ballast.
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

// snapshotEstimate is how much space the next snapshot may take.
//
// In bytes, and rounded up: the last snapshot and everything written since, as if nothing of that replaced anything.
// It is too much more often than too little.
func (j *Journal) snapshotEstimate() int64 {
	j.inventory.mu.Lock()
	defer j.inventory.mu.Unlock()
	n := j.inventory.stats.SnapshotBytes + j.inventory.stats.SinceSnapshot
	return (n/ballastRounding + 1) * ballastRounding
}

// releaseBallast gives up ballast until so much is left, and says whether there was more.
func (j *Journal) releaseBallast(left int64) bool {
	b := &j.ballast
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil || b.size <= left {
		return false
	}
	if err := errors.Join(b.file.Truncate(left), b.file.Sync()); err != nil {
		j.o.Logger.Warn("the room that was kept cannot be given up", "error", err)
		return false
	}
	b.size = left
	return true
}

// retryWithBallast gives up ballast, a step at a time, while there is no space. The caller holds j.writeMu.
//
// It ends, as the ballast gets smaller with each attempt. Steps of 256 KiB leave most of it for the deletes to come.
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

// setDiskFull notes that the disk is full, and logs it at most once a minute.
func (j *Journal) setDiskFull(what string) {
	b, now := &j.ballast, time.Now()
	if !b.full.Swap(true) && now.Sub(time.Unix(0, b.lastLogged.Load())) > relogInterval {
		b.lastLogged.Store(now.UnixNano())
		b.loggedFull.Store(true)
		j.o.Logger.Error("the disk is full: until there is room, nothing but deletes is accepted", "dir", j.dir, "because", what)
	}
}

// deletesOnly says that the disk is full, so that only deletes are accepted.
//
// Without a ballast there is nothing to keep for deletes, and each batch may try its luck. The refill is what notices
// that somebody has made room; it runs here as well as in the maintenance, so that the first write after that is
// accepted.
func (j *Journal) deletesOnly() bool {
	if !j.ballast.full.Load() {
		return false
	}
	j.ballast.mu.Lock()
	kept := j.ballast.file != nil
	j.ballast.mu.Unlock()
	if kept {
		j.refillBallast() // there may be space now
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
