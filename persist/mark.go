package persist

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// defaultMarkEvery is how often the end of the journal is marked while it grows.
const defaultMarkEvery = time.Second

// mark makes durable where the journal ends, as far as the journal knows it to be durable. It
// writes nothing if nothing has changed.
func (j *Journal) mark() error {
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	return j.markAs(false, 0)
}

// markAs marks a journal that is closed, or that is about to get so many writes.
// j.control.mu is held.
func (j *Journal) markAs(clean bool, writes int) error {
	j.disk.begin()
	defer j.disk.end()
	m := j.position()
	m.clean, m.ceiling = clean, j.control.mark.ceiling
	if m.ceiling < m.newest+revisionStep/2+Revision(writes) {
		m.ceiling = m.newest + revisionStep + Revision(writes)
	}
	if j.control.file == nil {
		return j.upgrade(m)
	}
	last := j.control.mark
	if last.sequence = 0; m == last {
		return nil
	}
	err := j.control.write(m)
	if isFull(err) {
		return noSpace(err) // where even a write in place takes room
	}
	if err != nil {
		return j.fail(fmt.Errorf("%s: %w", controlFile, err))
	}
	j.ceiling.Store(uint64(m.ceiling))
	return nil
}

// position is the mark of what is durable now.
func (j *Journal) position() mark {
	j.mu.Lock()
	defer j.mu.Unlock()
	m := mark{newest: j.newest, unsynced: j.o.Sync == SyncNone, boot: j.o.boot}
	if n := len(j.segments); n > 0 {
		s := j.segments[n-1]
		m.segment, m.end, m.sum, m.length = s.first, s.size, s.sum, j.reserved
	}
	if m.unsynced && !j.synced && m.segment > 0 {
		m.newest, m.end, m.sum, m.length = m.segment-1, segmentHeader, 0, segmentHeader
	}
	return m
}

// upgrade gives a directory of format 1 its control file. Nothing is appended before.
func (j *Journal) upgrade(m mark) error {
	err := writeControl(j.fs, j.dir, m)
	if err == nil {
		err = writeSealed(j.fs, filepath.Join(j.dir, formatFile), format{directoryFormat})
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
	j.ceiling.Store(uint64(m.ceiling))
	return nil
}

// marked says that the mark names a later segment, so that this one may go.
func (j *Journal) marked(s segment) bool {
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	return j.control.file == nil || j.control.mark.segment > s.first
}

// admit makes sure that the revisions of so many writes are reserved.
func (j *Journal) admit(writes int) error {
	if uint64(j.newest)+uint64(writes) <= j.ceiling.Load() {
		return nil
	}
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	return j.markAs(false, writes)
}

// keep marks the end of the journal from time to time, until the journal is closed.
func (j *Journal) keep(ended chan struct{}) {
	defer close(ended)
	ticker := time.NewTicker(j.o.MarkEvery)
	defer ticker.Stop()
	for {
		select {
		case <-j.stop:
			return
		case <-ticker.C:
			if j.state() == nil {
				_ = j.mark() // a failure is logged, and tells the next Append
				j.keepBallast()
			}
		}
	}
}

// stopKeeping ends keep.
func (j *Journal) stopKeeping() {
	if j.kept != nil {
		close(j.stop)
		<-j.kept
		j.kept = nil
	}
}

// seal marks a clean end, and then cuts off what is reserved behind it.
func (j *Journal) seal() error {
	if err := j.sync(); err != nil {
		return err
	}
	end := j.segments[len(j.segments)-1].size
	j.mu.Lock()
	j.reserved, j.synced = end, true
	j.mu.Unlock()
	j.control.mu.Lock()
	err := j.markAs(true, 0)
	j.control.mu.Unlock()
	if errors.Is(err, ErrNoSpace) {
		return nil // what is reserved stays, as the mark says
	}
	if err != nil {
		return err
	}
	if err := j.file.Truncate(end); err != nil {
		return j.fail(fmt.Errorf("truncate: %w", err))
	}
	return j.sync()
}
