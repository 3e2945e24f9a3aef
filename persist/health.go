package persist

import (
	"fmt"
	"sync/atomic"
	"time"
)

// stalledAfter is how long the disk may take for one operation.
const stalledAfter = 5 * time.Second

// An ioTracker counts the disk operations that are under way.
//
// Two atomics instead of a lock, because a disk that hangs holds whatever lock is held during the operation, and the
// question whether it hangs must still be answered.
type ioTracker struct {
	count atomic.Int64
	since atomic.Int64 // when the oldest of them began, or the last ended, nanoseconds since 1970
	// probing is true while a probe is under way.
	probing atomic.Bool
}

func (o *ioTracker) begin() {
	if o.count.Add(1) == 1 {
		o.since.Store(time.Now().UnixNano())
	}
}

func (o *ioTracker) end() {
	o.since.Store(time.Now().UnixNano())
	o.count.Add(-1)
}

// Healthy is nil while the journal accepts batches and the disk answers. It never waits: if no
// operation has ended for a while, it starts one, whose outcome the next call sees.
func (j *Journal) Healthy() error {
	if err := j.status.failed(); err != nil {
		return err
	}
	since := time.Since(time.Unix(0, j.disk.since.Load()))
	if since <= stalledAfter {
		return nil
	}
	if j.disk.count.Load() > 0 {
		return fmt.Errorf("the disk has not answered for %v", since.Truncate(time.Second))
	}
	if j.disk.probing.CompareAndSwap(false, true) {
		go j.probe()
	}
	return nil
}

// probe writes the watermark again, to find out whether the disk answers when nothing else is written.
//
// The same record under the next sequence number: it changes nothing that a reader would see. The file of a closed
// journal is left as it is, for it says that nothing was appended since.
func (j *Journal) probe() {
	defer j.disk.probing.Store(false)
	j.control.mu.Lock()
	defer j.control.mu.Unlock()
	if j.control.file == nil || j.control.watermark.clean {
		return
	}
	j.disk.begin()
	defer j.disk.end()
	if err := j.control.write(j.control.watermark); err != nil && !isFull(err) {
		_ = j.fail(fmt.Errorf("%s: %w", controlFile, err)) // the next Append answers with it
	}
}
