package persist

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// defaultWatermarkInterval is how often the watermark is written while the journal grows.
const defaultWatermarkInterval = time.Second

// writeWatermark makes durable where the journal ends, as far as the journal knows it to be durable. It
// writes nothing if nothing has changed.
func (j *Journal) writeWatermark() error {
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	return j.writeWatermarkLocked(j.currentWatermark(), 0)
}

// writeWatermarkLocked writes a watermark for a journal that is about to get so many writes. The caller holds
// j.control.mu.
//
// Revisions are reserved anew when half of the last reservation is used up. So it happens in the writes that come
// every second, and Append has to wait for one only if it gives out half a million in between.
func (j *Journal) writeWatermarkLocked(m watermark, writes int) error {
	m.maxRevision = j.control.watermark.maxRevision
	if m.maxRevision < m.newest+revisionReservation/2+Revision(writes) {
		m.maxRevision = m.newest + revisionReservation + Revision(writes)
	}
	last := j.control.watermark
	if last.sequence = 0; j.control.file != nil && m == last {
		return nil // and the disk was not asked: it may hang
	}
	j.disk.begin()
	defer j.disk.end()
	if j.control.file == nil {
		return j.upgradeFormat(m)
	}
	err := j.control.write(m)
	if isFull(err) {
		return noSpace(err) // some file systems need space even for a write in place
	}
	if err != nil {
		return j.fail(fmt.Errorf("%s: %w", controlFile, err))
	}
	j.control.maxRevision.Store(uint64(m.maxRevision))
	return nil
}

// currentWatermark is the watermark of what is durable now.
//
// Under SyncNone what was written since the last sync may be lost, so the watermark only promises what was there when
// the segment began.
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

// upgradeFormat gives a directory of format 1 its control file, before the first batch is appended.
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

// watermarkPassed says that the watermark names a later segment, so that this one may be removed.
//
// A crash between the removal and the next watermark would otherwise leave a watermark that names a file which does
// not exist, and that is a data loss to the next start.
func (j *Journal) watermarkPassed(s segment) bool {
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	return j.control.file == nil || j.control.watermark.segment > s.first
}

// reserveRevisions makes sure that the revisions of so many writes are reserved.
func (j *Journal) reserveRevisions(writes int) error {
	if uint64(j.inventory.newest)+uint64(writes) <= j.control.maxRevision.Load() {
		return nil
	}
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	return j.writeWatermarkLocked(j.currentWatermark(), writes)
}

// runMaintenance writes the watermark from time to time, until the journal is closed.
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
				_ = j.writeWatermark() // a failure is logged, and the next Append answers with it
				j.refillBallast()
			}
		}
	}
}

// checkLocks makes the journal fail if the directory names another control file: what is written from now on
// would be missing from the directory. A replaced lock is reported; the lock of the control file still
// excludes others.
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

// sealActiveSegment writes the watermark of a closed journal, and then cuts off the zeros after it.
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
		return nil // the zeros stay, as the watermark says
	}
	if err != nil {
		return err
	}
	if err := j.file.Truncate(end); err != nil {
		return j.fail(fmt.Errorf("truncate: %w", err))
	}
	return j.sync()
}
