package actors

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// committer owns the log. It takes proposals, writes as many as wait in one batch, and hands what is
// durable to the collections; while they publish, it already syncs the next batch. It blocks while the
// log syncs. It is never restarted: a panic or a failed log ends the process.
type committer struct {
	store   *Store
	waiting []*proposal
	bytes   int // of waiting
	// committing are the proposals of the Append that is under way, by index of the batch.
	committing []*proposal
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
	inBatch := make(map[*proposal]bool, len(c.waiting))
	for _, f := range c.waiting {
		if err := f.resolveBase(inBatch); err != nil {
			f.abort(err)
			continue
		}
		inBatch[f] = true
		c.committing = append(c.committing, f)
		batch = append(batch, f.write)
	}
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
	for i, r := range results {
		if r.Err != nil {
			c.committing[i].abort(errStale)
		}
	}
}

// resolveBase completes the conditions of a write: its base may be in the same batch, or may have been
// committed by an earlier one.
func (f *proposal) resolveBase(inBatch map[*proposal]bool) error {
	if f.base != nil && inBatch[f.base] {
		return nil // the batch keeps the order
	}
	if f.base != nil {
		<-f.base.done // committed by an earlier batch, and about to be published
		if f.base.err != nil {
			return errStale
		}
		f.baseVersion = f.base.object.Version
	}
	f.write.Conditions = append(f.write.Conditions, persist.Condition{Key: f.write.Key, Revision: persist.Revision(f.baseVersion)})
	return nil
}

// failAll answers all proposals of a batch that the log did not take. A log that has failed ends the
// process, but only after they have their answer.
func (c *committer) failAll(err error) {
	answer := diskFullError()
	if !errors.Is(err, persist.ErrNoSpace) {
		answer = meta.NewServiceUnavailable("the server can not store changes any more and is stopping")
		defer c.store.fail(fmt.Errorf("log: %w", err))
	}
	for _, f := range slices.Concat(c.committing, c.waiting) {
		if !f.resolved() {
			f.abort(answer)
		}
	}
	c.committing, c.waiting, c.bytes = nil, nil, 0
}

// diskFullError answers a change for which the disk has no space.
func diskFullError() error {
	return meta.NewInsufficientStorage("the disk that keeps the objects is full")
}

// abortNonFreeing aborts the changes for which a full disk has no space, and leaves those that free
// space, for which some is reserved, waiting. It answers false if there were only the one or the
// other.
func (c *committer) abortNonFreeing() bool {
	var rest []*proposal
	for _, f := range c.committing {
		if f.write.FreesSpace {
			rest = append(rest, f)
		}
	}
	if len(rest) == 0 || len(rest) == len(c.committing) {
		return false
	}
	for _, f := range c.committing {
		if !f.write.FreesSpace {
			f.abort(diskFullError())
		}
	}
	c.committing, c.waiting = nil, append(rest, c.waiting...)
	return true
}

// publishBatch takes each durable batch from the log and hands its parts to the collections.
// The log calls it on the goroutine of Append.
func (c *committer) publishBatch(batch []persist.Commit) {
	parts := make(map[*collection]*changes)
	for i := range batch {
		commit := &batch[i]
		var f *proposal
		if commit.Index >= 0 {
			f = c.committing[commit.Index]
		}
		into, change := c.changeOf(commit, f)
		part := parts[into]
		if part == nil {
			part = &changes{}
			parts[into] = part
		}
		part.records = append(part.records, change)
	}
	publication := c.store.appliedRevision.begin(uint64(batch[len(batch)-1].Revision), len(parts))
	for into, part := range parts {
		part.publication = publication
		into.publisher.Send(part)
	}
}

// changeOf makes the change of a commit. It keeps nothing else of the request in memory.
func (c *committer) changeOf(commit *persist.Commit, f *proposal) (*collection, change) {
	if f != nil {
		return f.collection, change{object: f.committedObject(commit), remove: commit.Delete, time: commit.Time, proposal: f}
	}
	into, object, err := c.store.decode(commit.Key, commit.Revision, commit.Value)
	if err != nil {
		panic(err)
	}
	return into, change{object: object, remove: commit.Delete, time: commit.Time}
}
