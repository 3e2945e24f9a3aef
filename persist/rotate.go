package persist

import (
	"errors"
	"fmt"
	"syscall"
)

// rotateBeforeWrite begins a new segment. If disk space or file descriptors are exhausted, it keeps
// the active segment.
func (j *Journal) rotateBeforeWrite() error {
	err := j.rotateNow()
	switch {
	case err == nil || errors.Is(err, ErrFailed):
		return err
	case !isTransient(err):
		return j.fail(fmt.Errorf("new segment: %w", err))
	case j.file == nil:
		return noSpace(err)
	}
	return nil
}

// rotationDue returns false for an empty segment, because a new segment would have the same name.
func (j *Journal) rotationDue() bool {
	j.inventory.mu.Lock()
	defer j.inventory.mu.Unlock()
	n := len(j.inventory.segments)
	if n == 0 {
		return true
	}
	active := j.inventory.segments[n-1]
	return active.size > segmentHeader && (j.inventory.rotate || active.size >= j.o.SegmentBytes)
}

// Trim deletes the segments before keepFrom that recovery does not need. It first begins a new
// segment if one is due. If the disk is full, it uses the reserved space for that.
func (j *Journal) Trim(keepFrom Revision) error {
	if err := j.rotateForTrim(); err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	j.filesMu.Lock()
	defer j.filesMu.Unlock()
	j.inventory.mu.Lock()
	base := j.inventory.base
	j.inventory.mu.Unlock()
	return j.removeObsolete(base, keepFrom)
}

// rotateForTrim begins a new segment if one is due. Unlike rotateBeforeWrite, it returns ErrNoSpace
// on a full disk, because without a new segment Trim frees no space.
func (j *Journal) rotateForTrim() error {
	j.writeMu.Lock()
	defer j.writeMu.Unlock()
	if err := j.status.check(); err != nil || !j.rotationDue() {
		return err
	}
	j.disk.begin()
	defer j.disk.end()
	err := j.retryWithBallast(func() error { return noSpace(j.rotateNow()) })
	if err == nil || isTransient(err) || errors.Is(err, ErrFailed) {
		return err
	}
	return j.fail(fmt.Errorf("new segment: %w", err))
}

func isTransient(err error) bool {
	return isFull(err) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// rotateNow makes a new segment active. It writes the watermark before the new segment is used and
// before the zero padding of the old segment is truncated, so that the watermark is correct after a
// crash at any point.
func (j *Journal) rotateNow() error {
	if j.file != nil && j.o.Sync == SyncNone {
		if err := j.sync(); err != nil {
			return err
		}
	}
	s, err := createSegment(j.fs, journalDir(j.dir), j.inventory.newest+1)
	if errors.Is(err, errUnsynced) {
		return j.fail(fmt.Errorf("new segment: %w", err))
	}
	if err != nil {
		return err
	}
	file, size, err := j.openForAppend(s)
	if err != nil {
		return errors.Join(err, j.fs.Remove(s.path))
	}
	old := j.file
	j.inventory.mu.Lock()
	var end int64
	if n := len(j.inventory.segments); n > 0 {
		end = j.inventory.segments[n-1].size
	}
	j.inventory.segments = append(j.inventory.segments, s)
	j.file, j.inventory.reserved, j.inventory.rotate = file, size, false
	j.inventory.mu.Unlock()
	if err := j.writeWatermark(); err != nil || old == nil {
		return err
	}
	if err := errors.Join(old.Truncate(end), old.Close()); err != nil {
		j.o.Logger.Warn("cannot release the reserved space of a segment", "error", err)
	}
	return nil
}
