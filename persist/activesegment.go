package persist

import (
	"errors"
	"fmt"
	"time"

	"github.com/troupe-api/troupe/persist/vfs"
)

// Zeros are written ahead of the batches, about as many as the segment is long but within
// these bounds: a sync that changes neither a file's length nor its place on the disk costs
// half of one that does.
const (
	minReserve = 64 << 10
	maxReserve = 256 << 10
)

// openForAppend opens a segment that is to grow, and answers the length of its file.
//
// Under SyncAlways the file is opened so that a write and its sync may be one call to the system (vfs.FS.OpenLog).
// Under SyncNone nothing is synced, and that would only cost.
func (j *Journal) openForAppend(s segment) (vfs.File, int64, error) {
	open := j.fs.OpenLog
	if j.o.Sync == SyncNone {
		open = j.fs.OpenReadWrite
	}
	file, err := open(s.path)
	if err != nil {
		return nil, 0, err
	}
	size, err := file.Size()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, size, nil
}

// writeFrame makes a frame durable at the end of the active segment.
//
// Zeros that were not asked for are no reason to refuse a batch: if the disk is too full for both, the frame is
// written without them. j.inventory.reserved only grows here, for a frame that fits into the zeros does not change the length
// of the file.
func (j *Journal) writeFrame(frame []byte, end int64) error {
	start := time.Now()
	padded := j.padWithReserve(frame, end)
	_, err := j.file.WriteAt(padded, end)
	if isFull(err) && len(padded) > len(frame) {
		if err := j.truncateReserve(end); err != nil {
			return err
		}
		padded = frame
		_, err = j.file.WriteAt(frame, end)
	}
	if err != nil {
		return j.rollbackWrite(end, err)
	}
	if j.o.Sync == SyncNone {
		j.inventory.mu.Lock()
		j.inventory.synced = false
		j.inventory.mu.Unlock()
		return nil
	}
	if err := j.sync(); err != nil {
		return err
	}
	took := time.Since(start).Seconds()
	j.inventory.mu.Lock()
	defer j.inventory.mu.Unlock()
	j.inventory.reserved = max(j.inventory.reserved, end+int64(len(padded)))
	j.inventory.stats.Syncs++
	j.inventory.stats.SyncSeconds += took
	return nil
}

// padWithReserve adds zeros to a frame that reaches beyond those that are there.
//
// The zeros are in the same write as the frame, so that they cost no second sync. On a full disk there are none: what
// is left belongs to batches that free space.
func (j *Journal) padWithReserve(frame []byte, end int64) []byte {
	behind := end + int64(len(frame))
	if j.o.Sync == SyncNone || behind <= j.inventory.reserved || j.ballast.full.Load() {
		return frame
	}
	reserve := max(j.o.ReserveBytes, min(behind, maxReserve))
	padded := append(frame, make([]byte, reserve)...)
	if cap(padded) <= maxKeptBuffer {
		j.buf = padded
	}
	return padded
}

// truncateReserve cuts off the zeros after the end of the active segment. The watermark is lowered
// before that.
//
// The order matters: a watermark with the old length beside a file that was cut would read as a data loss after a
// crash. If there is no room even for the watermark, the file is never shorter than the last durable watermark promises, not even for a
// moment: a kill in that moment would be that data loss. What lies before that length becomes a hole.
func (j *Journal) truncateReserve(end int64) error {
	j.inventory.mu.Lock()
	j.inventory.reserved = end
	j.inventory.mu.Unlock()
	marked := j.writeWatermark()
	if marked != nil && !errors.Is(marked, ErrNoSpace) {
		return marked
	}
	least := end
	if marked != nil {
		least = max(least, j.promisedLength())
	}
	if err := j.zeroFrom(end, least); err != nil {
		return j.fail(fmt.Errorf("truncate: %w", err))
	}
	return j.sync()
}

// zeroFrom makes the active segment's file so long, with nothing but zeros from end on. Where the file system makes no holes, the file is short for
// a moment.
func (j *Journal) zeroFrom(end, length int64) error {
	if length == end {
		return j.file.Truncate(end)
	}
	size, err := j.file.Size()
	if err != nil {
		return err
	}
	switch err := j.file.Zero(end, max(size, length)); {
	case errors.Is(err, errors.ErrUnsupported):
		return errors.Join(j.file.Truncate(end), j.file.Truncate(length))
	case err != nil:
		return err
	}
	return j.file.Truncate(length)
}

// promisedLength is the least length of the active segment's file by the watermark that is durable.
func (j *Journal) promisedLength() int64 {
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	if m := j.control.watermark; m.segment == j.inventory.active().first {
		return m.length
	}
	return 0
}

// rollbackWrite undoes a write that failed. A full disk leaves the journal as it was; after any
// other error, or if undoing fails, it is unknown what is on disk.
func (j *Journal) rollbackWrite(end int64, cause error) error {
	if !isFull(cause) {
		return j.fail(fmt.Errorf("write: %w", cause))
	}
	if err := j.truncateReserve(end); err != nil {
		return err
	}
	return noSpace(cause)
}

// sync makes the active segment durable. A failed sync is never tried again: the kernel may
// have dropped the pages that it could not write.
func (j *Journal) sync() error {
	if err := j.file.Sync(); err != nil {
		return j.fail(fmt.Errorf("sync: %w", err))
	}
	return nil
}
