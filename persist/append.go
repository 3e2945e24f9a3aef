package persist

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Append implements Log.
func (j *Journal) Append(batch []Write) ([]Result, error) {
	j.writeMu.Lock()
	defer j.writeMu.Unlock()
	if err := j.checkOpen(); err != nil {
		return nil, err
	}
	results := make([]Result, len(batch))
	commits, err := j.assignRevisions(batch, results)
	if err != nil || len(commits) == 0 {
		return results, err
	}
	if err = j.writeBatch(batch, commits); errors.Is(err, ErrNoSpace) {
		j.setDiskFull("a write found no room")
	}
	if err != nil {
		return nil, err
	}
	j.publish(commits)
	return results, nil
}

// writeBatch writes a batch; on a full disk only if it leads to less.
func (j *Journal) writeBatch(batch []Write, commits []Commit) error {
	frees := !slices.ContainsFunc(batch, func(w Write) bool { return !w.FreesSpace })
	if !frees && j.deletesOnly() {
		return ErrNoSpace
	}
	j.disk.begin()
	defer j.disk.end()
	if frees {
		return j.retryWithBallast(func() error { return j.write(commits) })
	}
	return j.write(commits)
}

func (j *Journal) checkOpen() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.failure != nil:
		return j.failure
	case j.closed:
		return errClosed
	case !j.recovered:
		return errNotRecovered
	}
	return nil
}

// assignRevisions checks the conditions and gives the writes that pass their revisions and final bytes.
func (j *Journal) assignRevisions(batch []Write, results []Result) ([]Commit, error) {
	if j.lookupRevision != nil {
		applied := j.newest
		if j.lookupApplied != nil {
			applied = j.lookupApplied()
		}
		j.recent.forget(applied)
	}
	now := time.Unix(0, j.o.Now().UnixNano()) // as a reader of the journal will see it
	next := j.newest + 1
	commits := make([]Commit, 0, len(batch))
	within := make(map[string]Revision, len(batch))
	for i := range batch {
		w := &batch[i]
		if w.RevisionOffset > len(w.Value) {
			return nil, fmt.Errorf("persist: slot %d lies beyond the %d bytes of %q", w.RevisionOffset, len(w.Value), w.Key)
		}
		if !j.conditionsHold(w.Conditions, within) {
			results[i].Err = ErrCondition
			continue
		}
		commits = append(commits, Commit{
			Revision: next, Time: now, Index: i, Key: w.Key, Value: insertRevision(w, next), Delete: w.Delete, Metadata: bytes.Clone(w.Metadata),
		})
		results[i].Revision, within[w.Key] = next, next
		if w.Delete {
			within[w.Key] = 0
		}
		next++
	}
	return commits, nil
}

// conditionsHold checks conditions against the batch so far, then what is not applied yet, then the state.
func (j *Journal) conditionsHold(conditions []Condition, within map[string]Revision) bool {
	for _, c := range conditions {
		have, ok := within[c.Key]
		if !ok {
			have = j.revisionOf(c.Key)
		}
		if have != c.Revision {
			return false
		}
	}
	return true
}

func (j *Journal) revisionOf(key string) Revision {
	if j.revisions != nil {
		return j.revisions[key]
	}
	if k, ok := j.recent.keys[key]; ok {
		return k.revision
	}
	return j.lookupRevision(key)
}

// insertRevision answers a fresh copy of a write's value with the revision's digits in its slot.
func insertRevision(w *Write, rev Revision) []byte {
	if w.RevisionOffset < 0 {
		return bytes.Clone(w.Value)
	}
	var digits [20]byte
	d := strconv.AppendUint(digits[:0], uint64(rev), 10)
	out := make([]byte, 0, len(w.Value)+len(d))
	out = append(out, w.Value[:w.RevisionOffset]...)
	out = append(out, d...)
	return append(out, w.Value[w.RevisionOffset:]...)
}

// write makes a batch durable at the end of the active segment.
func (j *Journal) write(commits []Commit) error {
	if err := j.rotateIfDue(); err != nil {
		return err
	}
	if err := j.reserveRevisions(len(commits)); err != nil {
		return err
	}
	active := j.segments[len(j.segments)-1]
	frame := j.encode(active, commits)
	if len(frame) > maxPayload {
		return fmt.Errorf("persist: a batch of %d bytes is larger than %d", len(frame), maxPayload)
	}
	if err := j.writeFrame(frame, active.size); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	grown := &j.segments[len(j.segments)-1]
	grown.size, grown.sum = grown.size+int64(len(frame)), le.Uint32(frame[4:])
	j.newest = commits[len(commits)-1].Revision
	j.stats.SinceSnapshot += int64(len(frame))
	j.stats.Batches++
	j.stats.Commits += uint64(len(commits))
	return nil
}

const maxKeptBuffer = 4 << 20

func (j *Journal) encode(active segment, commits []Commit) []byte {
	size := frameHeader
	for i := range commits {
		size += len(commits[i].Key) + len(commits[i].Value) + len(commits[i].Metadata) + 16
	}
	if size > maxKeptBuffer {
		j.buf = nil // let go of a huge batch's buffer with the next one
	}
	b := slices.Grow(j.buf[:0], size+size/100+2*frameAlign)[:frameHeader]
	clear(b)
	for i := range commits {
		b = appendRecord(b, &commits[i])
	}
	b = encodeFrame(b, frame{
		segment: active.first, offset: active.size, count: uint32(len(commits)),
		first: commits[0].Revision, last: commits[len(commits)-1].Revision, time: commits[0].Time.UnixNano(),
	})
	if cap(b) <= maxKeptBuffer {
		j.buf = b
	}
	return b
}

// publish hands a durable batch to the follower.
func (j *Journal) publish(commits []Commit) {
	if j.revisions != nil {
		for i := range commits {
			j.applyRevision(&commits[i])
		}
	} else {
		j.recent.remember(commits)
	}
	if j.subscriber != nil {
		j.subscriber(commits)
	}
}

func (j *Journal) applyRevision(c *Commit) {
	if c.Delete {
		delete(j.revisions, c.Key)
	} else {
		j.revisions[c.Key] = c.Revision
	}
}
