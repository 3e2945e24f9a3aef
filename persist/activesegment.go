package persist

import (
	"errors"
	"fmt"
	"time"

	"github.com/troupe-api/troupe/persist/vfs"
)

// minReserve and maxReserve limit the zero padding at the end of the active segment, in bytes. The
// padding grows with the segment. Overwriting it changes neither the length nor the blocks of the
// file, which halves the cost of a sync.
const (
	minReserve = 64 << 10
	maxReserve = 256 << 10
)

// openForAppend opens the active segment. Under SyncAlways, it uses vfs.FS.OpenLog, so that one
// system call can write and sync. Under SyncNone, it opens a plain file, which is not synced.
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

// writeFrame durably appends a frame at the end of the active segment. If the disk is too full for
// the frame and its padding, it writes only the frame. Only writeFrame increases
// inventory.reserved.
func (j *Journal) writeFrame(frame []byte, end int64) error {
	start := time.Now()
	padded := j.padWithReserve(frame, end)
	_, err := j.file.WriteAt(padded, end)
	if len(padded) > len(frame) && isFull(err) {
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

// padWithReserve appends zero padding to the frame, so that one sync covers both. On a full disk it
// appends none, because the remaining space is reserved for batches that free space.
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

// truncateReserve removes the zero padding of the active segment. It lowers the watermark first,
// because a crash between the two steps would otherwise look like data loss. If the disk has no
// space for the new watermark, the file keeps the length that the durable watermark requires, with
// a hole at its end.
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

// zeroFrom sets the length of the active segment's file and zeroes all bytes from end onward. File
// systems that cannot punch holes temporarily truncate the file to end.
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

func (j *Journal) promisedLength() int64 {
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	if m := j.control.watermark; m.segment == j.inventory.active().first {
		return m.length
	}
	return 0
}

// rollbackWrite undoes a failed write. If the disk is full, the journal stays usable. After any
// other error, the content of the disk is undefined, so the journal fails.
func (j *Journal) rollbackWrite(end int64, cause error) error {
	if !isFull(cause) {
		return j.fail(fmt.Errorf("write: %w", cause))
	}
	if err := j.truncateReserve(end); err != nil {
		return err
	}
	return noSpace(cause)
}

// sync never retries after a failure, because the kernel may have dropped the pages that it could
// not write.
func (j *Journal) sync() error {
	if err := j.file.Sync(); err != nil {
		return j.fail(fmt.Errorf("sync: %w", err))
	}
	return nil
}
