package actors

import (
	"runtime"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// decodeAhead decodes values in parallel during recovery, while other values are read and applied.
// It applies them in the order in which they were read, because the last value of an object must
// win.
type decodeAhead struct {
	gathered []decoding  // values read last
	bytes    int         // of gathered
	running  []decodeJob // oldest first
}

type decoding struct {
	key      string
	revision persist.Revision
	value    []byte
	commit   *persist.Commit // nil: an item of the snapshot

	collection *collection
	object     *meta.Object
	err        error // why there is no object
}

type decodeJob struct {
	values []decoding
	done   chan struct{}
}

// Limits of one decodeJob. They bound the memory of recovery, which runs about one job per CPU.
const (
	decodeJobValues = 128
	decodeJobBytes  = 256 << 10
)

// decode schedules the decoding of a value, which is applied later. For an unknown kind, it adds a
// collection that decodes only metadata until the CRDs are known.
func (r *recovery) decode(d decoding) error {
	if parsed, err := meta.ParseKey(d.key); err == nil && r.store.allCollections()[parsed.GroupResource] == nil {
		r.addCollection(parsed.GroupResource, r.store.catalog.Opaque(parsed.GroupResource))
	}
	a := &r.ahead
	a.gathered, a.bytes = append(a.gathered, d), a.bytes+len(d.value)
	if len(a.gathered) < decodeJobValues && a.bytes < decodeJobBytes {
		return nil
	}
	r.startDecoding()
	if len(a.running) > runtime.GOMAXPROCS(0) {
		return r.applyOldest()
	}
	return nil
}

func (r *recovery) startDecoding() {
	a := &r.ahead
	job := decodeJob{values: a.gathered, done: make(chan struct{})}
	a.gathered, a.bytes = nil, 0
	a.running = append(a.running, job)
	go func() {
		defer close(job.done)
		for i := range job.values {
			d := &job.values[i]
			d.collection, d.object, d.err = r.store.decode(d.key, d.revision, d.value)
		}
	}()
}

func (r *recovery) applyOldest() error {
	job := r.ahead.running[0]
	r.ahead.running = r.ahead.running[1:]
	<-job.done
	for i := range job.values {
		d := &job.values[i]
		if d.commit == nil {
			r.applyItem(d)
		} else if err := r.applyCommit(d); err != nil {
			return err
		}
	}
	return nil
}

func (r *recovery) finishDecoding() error {
	if len(r.ahead.gathered) > 0 {
		r.startDecoding()
	}
	for len(r.ahead.running) > 0 {
		if err := r.applyOldest(); err != nil {
			return err
		}
	}
	return nil
}
