package persist

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

const defaultWatermarkInterval = time.Second

func (j *Journal) writeWatermark() error {
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	return j.writeWatermarkLocked(j.currentWatermark(), 0)
}

// writeWatermarkLocked writes a watermark. If less than half of the reserved revisions are left, it
// also reserves more, so that Append rarely needs to. The caller holds j.control.mu.
func (j *Journal) writeWatermarkLocked(m watermark, writes int) error {
	m.maxRevision = j.control.watermark.maxRevision
	if m.maxRevision < m.newest+revisionReservation/2+Revision(writes) {
		m.maxRevision = m.newest + revisionReservation + Revision(writes)
	}
	last := j.control.watermark
	if last.sequence = 0; j.control.file != nil && m == last {
		return nil // unchanged; avoid the disk, which may hang
	}
	j.disk.begin()
	defer j.disk.end()
	if j.control.file == nil {
		return j.upgradeFormat(m)
	}
	err := j.control.write(m)
	if isFull(err) {
		return noSpace(err) // some file systems need free space even for in-place writes
	}
	if err != nil {
		return j.fail(fmt.Errorf("%s: %w", controlFile, err))
	}
	j.control.maxRevision.Store(uint64(m.maxRevision))
	return nil
}

// currentWatermark returns the watermark to write. Under SyncNone, it covers only the segment's
// header if there are unsynced writes, because they may be lost.
func (j *Journal) currentWatermark() watermark {
	j.inventory.mu.Lock()
	defer j.inventory.mu.Unlock()
	m := watermark{newest: j.inventory.newest, unsynced: j.o.Sync == SyncNone, bootID: j.o.bootID}
	if n := len(j.inventory.segments); n > 0 {
		s := j.inventory.segments[n-1]
		m.segment, m.end, m.sum, m.length = s.first, s.size, s.sum, j.inventory.reserved
	}
	if m.unsynced && !j.inventory.synced && m.segment > 0 {
		m.newest, m.end, m.sum, m.length = m.segment-1, segmentHeader, 0, segmentHeader
	}
	return m
}

func (j *Journal) upgradeFormat(m watermark) error {
	err := writeControl(j.fs, j.dir, m)
	if err == nil {
		err = writeChecksummed(j.fs, filepath.Join(j.dir, formatFile), format{directoryFormat})
	}
	if err == nil {
		m.sequence = controlSlots
		err = j.control.open(j.fs, j.dir, m)
	}
	if isFull(err) {
		return noSpace(err)
	}
	if err != nil {
		return j.fail(fmt.Errorf("upgrade to format %d: %w", directoryFormat, err))
	}
	j.control.maxRevision.Store(uint64(m.maxRevision))
	return nil
}

// watermarkPassed reports whether the watermark refers to a later segment than s. Until then, s
// must not be removed, because Open would report a missing segment as data loss.
func (j *Journal) watermarkPassed(s segment) bool {
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	return j.control.file == nil || j.control.watermark.segment > s.first
}

func (j *Journal) reserveRevisions(writes int) error {
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	return j.writeWatermarkLocked(j.currentWatermark(), writes)
}

func (j *Journal) runMaintenance(stop <-chan struct{}, ended chan<- struct{}) {
	defer close(ended)
	ticker := time.NewTicker(j.o.WatermarkInterval)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			if j.status.failed() == nil && j.checkLocks() == nil {
				_ = j.writeWatermark() // failures are logged, and the next Append returns them
				j.refillBallast()
			}
		}
	}
}

// checkLocks fails the journal if the control file was replaced, because later writes would not
// reach the directory. A replaced lock file is only logged, because the locked control file still
// protects the directory.
func (j *Journal) checkLocks() error {
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	if j.control.file == nil {
		return nil
	}
	held, err := j.control.lock.Held()
	if err == nil && !held {
		return j.fail(fmt.Errorf("%s was removed or replaced", filepath.Join(j.dir, controlFile)))
	}
	if held, fault := j.lock.Held(); fault == nil && !held && !j.lockLost {
		j.lockLost = true
		j.o.Logger.Error("the lock of the data directory was removed or replaced: put it back, or the next start is refused", "file", filepath.Join(j.dir, lockFile))
	}
	return err
}

// sealActiveSegment writes the watermark of a cleanly closed journal, then truncates the zero
// padding.
func (j *Journal) sealActiveSegment() error {
	if err := j.sync(); err != nil {
		return err
	}
	end := j.inventory.active().size
	j.inventory.mu.Lock()
	j.inventory.reserved, j.inventory.synced = end, true
	j.inventory.mu.Unlock()
	j.control.mu.Lock()
	m := j.currentWatermark()
	m.clean = true
	err := j.writeWatermarkLocked(m, 0)
	j.control.mu.Unlock()
	if errors.Is(err, ErrNoSpace) {
		return nil // the padding stays, because the watermark includes it
	}
	if err != nil {
		return err
	}
	if err := j.file.Truncate(end); err != nil {
		return j.fail(fmt.Errorf("truncate: %w", err))
	}
	return j.sync()
}
