package actors

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist"
)

// committer owns the writing side of the log. It takes proposals and writes as many as wait in one
// batch. The log hands what is durable to the collections (publishbatch.go); while they publish, the
// committer already syncs the next batch. It blocks while the log syncs. It is never restarted: a
// panic or a failed log ends the process.
type committer struct {
	store   *Store
	waiting []*proposal
	bytes   int // of waiting
	// committing are the proposals of the Append that is under way, by index of the batch.
	committing []*proposal
	// undecided is what was set aside for proposals that may have been committed or not.
	undecided []pendingRelease
}

// pendingRelease makes a collection give back what was set aside for a proposal, after all that it
// has been told to publish before.
type pendingRelease struct {
	collection *collection
	reserved   *request.Reservation
}

// Receive implements runtime.Owner.
func (c *committer) Receive(self *runtime.Ref, message any) {
	defer func() {
		if reason := recover(); reason != nil {
			c.failAll(fmt.Errorf("committing: %v", reason))
		}
	}()
	switch m := message.(type) {
	case *proposal:
		c.add(self, m)
	case runtime.Stopping:
		c.commit()
	}
}

// maxBatchBytes is how many bytes are gathered for one batch. The proposal that exceeds it still
// belongs to the batch.
const maxBatchBytes = 16 << 20

// add gathers proposals, and commits when nothing more waits or the batch is full.
func (c *committer) add(self *runtime.Ref, f *proposal) {
	c.waiting = append(c.waiting, f)
	c.bytes += f.size()
	if len(c.waiting) >= c.store.tuning.BatchSize || c.bytes >= maxBatchBytes {
		c.commit()
		return
	}
	if self.Len() == 0 {
		goruntime.Gosched() // writers that can run now join the batch
	}
	if self.Len() == 0 {
		c.commit()
	}
}

// commit writes everything that waits in one batch.
func (c *committer) commit() {
	batch := make([]persist.Write, 0, len(c.waiting))
	c.committing = make([]*proposal, 0, len(c.waiting))
	positions := make(map[*proposal]int, len(c.waiting)) // counted from 1
	for _, f := range c.waiting {
		if err := f.resolveBase(positions); err != nil {
			f.abort(err)
			continue
		}
		c.committing = append(c.committing, f)
		batch = append(batch, f.write)
		positions[f] = len(batch)
		for _, part := range f.companions {
			part.write.With = positions[f]
			c.committing = append(c.committing, part)
			batch = append(batch, part.write)
		}
	}
	clear(c.waiting) // a proposal keeps its whole collection alive
	c.waiting, c.bytes = c.waiting[:0], 0
	if len(batch) == 0 {
		return
	}
	begin := time.Now()
	results, err := c.store.log.Append(batch)
	c.store.metrics.batch(len(batch), time.Since(begin))
	if errors.Is(err, persist.ErrNoSpace) && c.abortNonFreeing() {
		c.commit()
		return
	}
	if err != nil {
		c.failAll(err)
		return
	}
	c.releaseDecided()
	for i, r := range results {
		switch {
		case c.committing[i].whole != nil: // its fate is that of the whole
		case errors.Is(r.Err, persist.ErrUnknown):
			c.leaveUndecided(c.committing[i])
		case errors.Is(r.Err, persist.ErrCondition):
			c.committing[i].abort(&conflictError{seen: uint64(r.Revision), overtaken: errors.Is(r.Err, persist.ErrOvertaken), fenced: errors.Is(r.Err, persist.ErrFenced)})
		case errors.Is(r.Err, persist.ErrTooLarge):
			c.committing[i].abort(meta.NewTooLarge("the store behind this server does not take a change of %d bytes", c.committing[i].size()))
		case r.Err != nil:
			c.committing[i].abort(c.store.notStorable(r.Err))
		}
	}
	c.committing = nil
}

// leaveUndecided answers a proposal that may have been committed or not. If it was, its commit is
// received like that of another writer. Until that is certain, what was set aside for it stays so.
func (c *committer) leaveUndecided(f *proposal) {
	for _, part := range append([]*proposal{f}, f.companions...) {
		if part.candidate.Reserved != nil {
			c.undecided = append(c.undecided, pendingRelease{part.collection, part.candidate.Reserved})
		}
	}
	f.undecided = true
	f.err = meta.NewTimeout("the store has not answered in time; the change may have happened")
	f.resolve()
}

// releaseDecided gives back what was set aside for proposals whose commits have been received by
// now, if there are any. Those have been accounted for like the commits of other writers.
func (c *committer) releaseDecided() {
	for _, r := range c.undecided {
		r.collection.publisher.Send(r)
	}
	c.undecided = nil
}

// resolveBase completes the conditions of a write: its base may be in the same batch, or may have been
// committed by an earlier one.
func (f *proposal) resolveBase(positions map[*proposal]int) error {
	if f.write.BasedOn = positions[f.base]; f.write.BasedOn > 0 {
		return nil
	}
	if f.base != nil {
		<-f.base.done // committed by an earlier batch, and about to be published
		if f.base.err != nil {
			return staleAfter(f.base.err)
		}
		f.baseVersion = f.base.object.Version
	}
	f.write.Conditions = append(f.write.Conditions, persist.Condition{Key: f.write.Key, Revision: persist.Revision(f.baseVersion)})
	return nil
}

// failAll answers all proposals of a batch that the log did not take. A log that has failed ends the
// process, but only after they have their answer.
func (c *committer) failAll(err error) {
	var answer error
	switch {
	case errors.Is(err, persist.ErrNoSpace):
		answer = diskFullError()
	case errors.Is(err, persist.ErrUnavailable):
		answer = unavailableError()
	default:
		answer = meta.NewServiceUnavailable("the server can not store changes any more and is stopping")
		defer c.store.fail(fmt.Errorf("log: %w", err))
	}
	for _, f := range slices.Concat(c.committing, c.waiting) {
		if f.whole == nil && !f.resolved() {
			f.abort(answer)
		}
	}
	c.committing, c.waiting, c.bytes = nil, nil, 0
}

// unavailableError answers changes while the store behind the log cannot be reached.
func unavailableError() error {
	status := meta.NewServiceUnavailable("the store cannot be reached, please try again later")
	status.Details = &meta.Details{RetryAfterSeconds: 1}
	return status
}

// notStorable logs under an id why one change cannot be stored, such as a key for its encryption that cannot be had,
// and is the answer that names the id.
func (s *Store) notStorable(err error) error {
	id := uuid.NewString()
	s.logger.Error("a change cannot be stored", "id", id, "error", err)
	return meta.NewInternal(id)
}

// diskFullError answers a change for which the disk has no space.
func diskFullError() error {
	return meta.NewInsufficientStorage("the disk that keeps the objects is full")
}

// abortNonFreeing aborts the changes for which a full disk has no space, and leaves those that free
// space, for which some is reserved, waiting. It answers false if there were only the one or the
// other.
func (c *committer) abortNonFreeing() bool {
	var rest, refused []*proposal
	for _, f := range c.committing {
		switch {
		case f.whole != nil: // goes with the whole
		case f.write.FreesSpace:
			rest = append(rest, f)
		default:
			refused = append(refused, f)
		}
	}
	if len(rest) == 0 || len(refused) == 0 {
		return false
	}
	for _, f := range refused {
		f.abort(diskFullError())
	}
	c.committing, c.waiting = nil, append(rest, c.waiting...)
	return true
}
