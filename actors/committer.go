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

// committer is the only writer to the log. It writes all waiting proposals in one batch and blocks
// while the log syncs. It is never restarted, because a panic or a failed log ends the process.
type committer struct {
	store   *Store
	waiting []*proposal
	bytes   int // of waiting
	// committing holds the proposals of the current Append call, indexed by position in the batch.
	committing []*proposal
	// undecided holds the reservations of proposals whose outcome is unknown.
	undecided []pendingRelease
	// publishers holds the publishers that the current batch has woken but that have not run yet.
	publishers []runtime.Turn
}

// pendingRelease is a message that asks a publisher to release a reservation. The publisher handles
// messages in order, so it publishes all earlier changes first.
type pendingRelease struct {
	collection *collection
	reserved   *request.Reservation
}

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

// maxBatchBytes is the size at which a batch is committed. The last proposal may exceed it.
const maxBatchBytes = 16 << 20

func (c *committer) add(self *runtime.Ref, f *proposal) {
	c.waiting = append(c.waiting, f)
	c.bytes += f.size()
	if len(c.waiting) >= c.store.tuning.BatchSize || c.bytes >= maxBatchBytes {
		c.commit()
		return
	}
	if self.Len() == 0 && int(c.store.inProgress.Load()) > len(c.waiting) {
		goruntime.Gosched() // runnable writers join the batch
	}
	if self.Len() == 0 {
		c.commit()
	}
}

func (c *committer) commit() {
	batch := make([]persist.Write, 0, len(c.waiting))
	c.committing = make([]*proposal, 0, len(c.waiting))
	positions := make(map[*proposal]int, len(c.waiting)) // 1-based
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
	clear(c.waiting) // a proposal retains its whole collection
	c.waiting, c.bytes = c.waiting[:0], 0
	if len(batch) == 0 {
		return
	}
	begin := time.Now()
	results, err := c.store.log.Append(batch)
	c.store.metrics.batch(len(batch), time.Since(begin))
	c.store.lastBatch.Store(int32(len(batch)))
	c.publish(len(batch))
	if errors.Is(err, persist.ErrNoSpace) && c.abortNonFreeing() {
		c.commit()
		return
	}
	if err != nil {
		c.failAll(err)
		return
	}
	if len(c.undecided) > 0 {
		c.releaseDecided()
	}
	for i, r := range results {
		switch {
		case c.committing[i].whole != nil: // has the outcome of the main proposal
		case errors.Is(r.Err, persist.ErrUnknown):
			c.leaveUndecided(c.committing[i])
		case errors.Is(r.Err, persist.ErrCondition):
			c.committing[i].abort(&conflictError{seen: uint64(r.Revision), overtaken: errors.Is(r.Err, persist.ErrOvertaken), fenced: errors.Is(r.Err, persist.ErrFenced)})
		case errors.Is(r.Err, persist.ErrTooLarge):
			c.committing[i].abort(meta.NewTooLarge("the store does not accept a change of %d bytes", c.committing[i].size()))
		case r.Err != nil:
			c.committing[i].abort(c.store.notStorable(r.Err))
		}
	}
	c.committing = nil
}

// publish runs the publishers that received changes from the last batch. With an embedded log, it
// runs those of a small batch on the committer's goroutine to avoid a goroutine switch.
func (c *committer) publish(changes int) {
	for _, turn := range c.publishers {
		if changes <= maxLed {
			turn.Run()
		} else {
			turn.Dispatch()
		}
	}
	clear(c.publishers)
	c.publishers = c.publishers[:0]
}

// leaveUndecided resolves a proposal with an unknown outcome, and keeps its reservation until the
// outcome is known. If the proposal was committed, the change arrives like another server's commit.
func (c *committer) leaveUndecided(f *proposal) {
	for _, part := range append([]*proposal{f}, f.companions...) {
		if part.candidate.Reserved != nil {
			c.undecided = append(c.undecided, pendingRelease{part.collection, part.candidate.Reserved})
		}
	}
	f.undecided = true
	f.err = meta.NewTimeout("the store did not respond in time; the change may have been made")
	f.resolve()
}

// releaseDecided releases the reservations of proposals whose outcome was unknown. It runs after a
// successful Append, because the outcome is known by then.
func (c *committer) releaseDecided() {
	for _, r := range c.undecided {
		r.collection.publisher.Send(r)
	}
	c.undecided = nil
}

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

// failAll aborts all proposals after a failed Append. If the log has failed permanently, failAll
// then ends the process.
func (c *committer) failAll(err error) {
	var answer error
	switch {
	case errors.Is(err, persist.ErrNoSpace):
		answer = diskFullError()
	case errors.Is(err, persist.ErrUnavailable):
		answer = unavailableError()
	default:
		answer = meta.NewServiceUnavailable("the server can no longer store changes and is stopping")
		defer c.store.fail(fmt.Errorf("log: %w", err))
	}
	for _, f := range slices.Concat(c.committing, c.waiting) {
		if f.whole == nil && !f.resolved() {
			f.abort(answer)
		}
	}
	c.committing, c.waiting, c.bytes = nil, nil, 0
}

func unavailableError() error {
	status := meta.NewServiceUnavailable("the store cannot be reached, please try again later")
	status.Details = &meta.Details{RetryAfterSeconds: 1}
	return status
}

func (s *Store) notStorable(err error) error {
	id := uuid.NewString()
	s.logger.Error("cannot store a change", "id", id, "error", err)
	return meta.NewInternal(id)
}

func diskFullError() error {
	return meta.NewInsufficientStorage("the server's disk is full")
}

// abortNonFreeing aborts the changes that do not free disk space, so that the others can be
// committed on a full disk. If all or none of the changes free space, it returns false.
func (c *committer) abortNonFreeing() bool {
	var rest, refused []*proposal
	for _, f := range c.committing {
		switch {
		case f.whole != nil: // belongs to its whole
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
