package actors

import (
	"runtime"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// decodeAhead decodes what recovery reads, on as many goroutines as there are processors, while recovery reads on and
// applies what has been decoded before. It is applied in the order in which it was read: of two states of an object the later
// one must win. Only the decoding is parallel, so nothing else is shared.
type decodeAhead struct {
	gathered []decoding  // what was read last
	bytes    int         // of gathered
	running  []decodeJob // oldest first
}

// decoding is a value of the log on its way to an object.
type decoding struct {
	key      string
	revision persist.Revision
	value    []byte
	commit   *persist.Commit // nil: an item of the snapshot

	collection *collection
	object     *meta.Object
	err        error // why there is no object
}

// decodeJob is a run of values that one goroutine decodes.
type decodeJob struct {
	values []decoding
	done   chan struct{}
}

// A job has so many values or bytes at most, which is what decodeAhead keeps in memory for each processor.
const (
	decodeJobValues = 128
	decodeJobBytes  = 256 << 10
)

// decode takes a value, which is applied later. An object of a kind that is not known yet gets a collection in which
// only the metadata of objects is read, until the definitions are known.
func (r *recovery) decode(d decoding) error {
	if parsed, err := meta.ParseKey(d.key); err == nil && r.store.allCollections()[parsed.GroupResource] == nil {
		r.addCollection(r.store.newCollection(parsed.GroupResource, r.store.catalog.Opaque(parsed.GroupResource)))
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

// startDecoding starts a job for what has been gathered.
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

// applyOldest applies the values that were read first of those that are not applied.
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

// finishDecoding applies everything that was read.
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
