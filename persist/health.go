package persist

import (
	"fmt"
	"sync/atomic"
	"time"
)

const stalledAfter = 5 * time.Second

// An ioTracker counts disk operations in flight. It uses atomics, so that Healthy never waits for a
// lock whose holder is blocked on a hanging disk.
type ioTracker struct {
	count   atomic.Int64
	since   atomic.Int64 // Unix nanoseconds when the last operation ended or the disk became busy
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

// Healthy returns nil while the journal accepts batches and the disk responds. It never blocks. If
// the disk has been idle for 5 s, Healthy starts a probe, and the next call returns the probe's
// outcome.
func (j *Journal) Healthy() error {
	if err := j.status.failed(); err != nil {
		return err
	}
	since := time.Since(time.Unix(0, j.disk.since.Load()))
	if since <= stalledAfter {
		return nil
	}
	if j.disk.count.Load() > 0 {
		return fmt.Errorf("the disk has not responded for %v", since.Truncate(time.Second))
	}
	if j.disk.probing.CompareAndSwap(false, true) {
		go j.probe()
	}
	return nil
}

// probe rewrites the watermark to test an idle disk. It skips a closed journal, because the last
// watermark records the clean shutdown.
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
		_ = j.fail(fmt.Errorf("%s: %w", controlFile, err)) // the next Append returns it
	}
}
