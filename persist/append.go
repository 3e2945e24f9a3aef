package persist

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Append implements Log. It calls the subscriber with writeMu held, so that commits arrive in order
// and without gaps. The subscriber must not call the log. Append does not check claims and guards.
func (j *Journal) Append(batch []Write) ([]Result, error) {
	j.writeMu.Lock()
	defer j.writeMu.Unlock()
	if err := j.status.check(); err != nil {
		return nil, err
	}
	results := make([]Result, len(batch))
	commits, err := j.assignRevisions(batch, results)
	if err != nil || len(commits) == 0 {
		return results, err
	}
	if err = j.writeBatch(batch, commits); errors.Is(err, ErrNoSpace) && j.dropArchive() {
		err = j.writeBatch(batch, commits)
	}
	if errors.Is(err, ErrNoSpace) {
		j.setDiskFull("no space for a write")
	}
	if err != nil {
		return nil, err
	}
	j.states.add(commits)
	if j.subscriber != nil {
		j.subscriber(commits, commits[len(commits)-1].Revision)
	}
	return results, nil
}

// writeBatch writes a batch to the journal. If the disk is full, it accepts only batches that free
// space, because even a failed write would use up the little space that deletes need.
func (j *Journal) writeBatch(batch []Write, commits []Commit) error {
	frees := !slices.ContainsFunc(batch, func(w Write) bool { return !w.FreesSpace })
	if !frees && j.ballast.full.Load() && j.deletesOnly() {
		return ErrNoSpace
	}
	j.disk.begin()
	defer j.disk.end()
	if frees {
		return j.retryWithBallast(func() error { return j.write(commits) })
	}
	return j.write(commits)
}

// assignRevisions checks the conditions of each write, and assigns revisions to the writes that
// pass. Rejected writes take no revision. Revisions become final once the batch is durable, so a
// batch that fails for lack of space leaves no gap.
func (j *Journal) assignRevisions(batch []Write, results []Result) ([]Commit, error) {
	j.states.forgetApplied()
	now := time.Unix(0, j.o.Now().UnixNano()) // as decoded from the journal
	next := j.inventory.newest + 1
	commits := make([]Commit, 0, len(batch))
	within := make(map[string]keyState, len(batch))
	for i := range batch {
		w := &batch[i]
		if w.RevisionOffset > len(w.Value) {
			return nil, fmt.Errorf("revision offset %d lies beyond the %d bytes of %q", w.RevisionOffset, len(w.Value), w.Key)
		}
		if w.BasedOn < 0 || w.BasedOn > i {
			return nil, fmt.Errorf("write %d of a batch cannot be based on its write %d", i+1, w.BasedOn)
		}
		if w.With < 0 || w.With > i || w.With > 0 && len(w.Conditions) > 0 {
			return nil, fmt.Errorf("write %d of a batch cannot be a part of its write %d", i+1, w.With)
		}
		if seen, ok := j.conditionsHold(w, results, within); !ok {
			results[i] = Result{Revision: seen, Err: ErrCondition}
			continue
		}
		if err := j.checkWrite(w.Key); err != nil {
			results[i] = Result{Err: err}
			continue
		}
		commits = append(commits, Commit{
			Revision: next, Time: now, Index: i, Key: w.Key, Value: w.ValueAt(next), Delete: w.Delete, Metadata: bytes.Clone(w.Metadata),
		})
		results[i].Revision = next
		state := keyState{revision: next, at: next}
		if w.Delete {
			state.revision = 0
		}
		within[w.Key] = state
		next++
	}
	return commits, nil
}

// conditionsHold reports whether the conditions of a write hold. If they do not, seen is the
// revision that the caller must wait for (see Result).
func (j *Journal) conditionsHold(w *Write, results []Result, within map[string]keyState) (seen Revision, ok bool) {
	if w.With > 0 {
		whole := results[w.With-1]
		return whole.Revision, whole.Err == nil
	}
	if w.BasedOn > 0 {
		base := results[w.BasedOn-1]
		if have := within[w.Key]; base.Err != nil || have.revision != base.Revision {
			return max(have.at, base.Revision), false
		}
	}
	for _, c := range w.Conditions {
		have, known := within[c.Key]
		if !known {
			have = j.states.of(c.Key)
		}
		if have.revision != c.Revision {
			return have.at, false
		}
	}
	return 0, true
}

// write makes a batch durable at the end of the active segment. It writes the frame after all other
// steps that may fail for lack of space, so that a rejected batch leaves no frame.
func (j *Journal) write(commits []Commit) error {
	if j.rotationDue() {
		if err := j.rotateBeforeWrite(); err != nil {
			return err
		}
	}
	if uint64(j.inventory.newest)+uint64(len(commits)) > j.control.maxRevision.Load() {
		if err := j.reserveRevisions(len(commits)); err != nil {
			return err
		}
	}
	active := j.inventory.active()
	frame := j.encode(active, commits)
	if len(frame) > maxPayload {
		return fmt.Errorf("a batch of %d bytes is larger than %d", len(frame), maxPayload)
	}
	if err := j.writeFrame(frame, active.size); err != nil {
		return err
	}
	j.inventory.mu.Lock()
	defer j.inventory.mu.Unlock()
	grown := &j.inventory.segments[len(j.inventory.segments)-1]
	grown.size, grown.sum = grown.size+int64(len(frame)), le.Uint32(frame[4:])
	j.inventory.newest = commits[len(commits)-1].Revision
	j.inventory.stats.SinceSnapshot += int64(len(frame))
	j.inventory.stats.Batches++
	j.inventory.stats.Commits += uint64(len(commits))
	return nil
}

// maxKeptBuffer is the size in bytes up to which the journal reuses its buffer for the next batch.
const maxKeptBuffer = 4 << 20

// encode returns the frame of a batch. To avoid reallocations, it reserves 16 bytes for the flags
// and lengths of each write, and 1 % for the table of checksums.
func (j *Journal) encode(active segment, commits []Commit) []byte {
	size := frameHeader
	for i := range commits {
		size += len(commits[i].Key) + len(commits[i].Value) + len(commits[i].Metadata) + 16
	}
	if size > maxKeptBuffer {
		j.buf = nil // release the buffer of an earlier huge batch
	}
	b := slices.Grow(j.buf[:0], size+size/100+2*frameAlign)[:frameHeader]
	clear(b)
	for i := range commits {
		b = appendRecord(b, &commits[i], j.encodeAppend)
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
