package actors

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// committer owns the log. It takes flights, writes as many as wait in one batch, and
// hands what is durable to the collections; while they publish, it already syncs the
// next batch. It blocks while the log syncs. It is never restarted: a panic or a
// failed log ends the process.
type committer struct {
	store   *Store
	box     *mailbox
	waiting []*flight
	bytes   int // of waiting
	// committing are the flights of the Append that is under way, by index of the batch.
	committing []*flight
}

// Receive implements actor.Actor.
func (c *committer) Receive(ctx actor.Context) {
	defer func() {
		if reason := recover(); reason != nil {
			c.refuse(fmt.Errorf("committing: %v", reason))
		}
	}()
	switch m := ctx.Message().(type) {
	case *flight:
		c.take(m)
	case *actor.Stopping:
		c.leave()
	}
}

// mostBatchBytes is how much is gathered for one batch, but for its last change: what is more goes
// into the next one.
const mostBatchBytes = 16 << 20

// take gathers flights, and commits when nothing more waits or the batch is full.
func (c *committer) take(f *flight) {
	c.waiting = append(c.waiting, f)
	c.bytes += f.size()
	if len(c.waiting) >= c.store.tuning.BatchSize || c.bytes >= mostBatchBytes {
		c.commit()
		return
	}
	if c.box.length() == 0 {
		runtime.Gosched() // who could run and join the batch does so first
	}
	if c.box.length() == 0 {
		c.commit()
	}
}

// leave commits what was gathered and turns away what came too late.
func (c *committer) leave() {
	late := c.box.close()
	if len(c.waiting) > 0 {
		c.commit()
	}
	for _, message := range late {
		if f, ok := message.(*flight); ok {
			f.reject(errStopped)
		}
	}
}

// commit writes everything that waits in one batch.
func (c *committer) commit() {
	batch := make([]persist.Write, 0, len(c.waiting))
	c.committing = make([]*flight, 0, len(c.waiting))
	inBatch := make(map[*flight]bool, len(c.waiting))
	for _, f := range c.waiting {
		if err := f.settle(inBatch); err != nil {
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
	if errors.Is(err, persist.ErrNoSpace) && c.onlyWhatFrees() {
		c.commit()
		return
	}
	if err != nil {
		c.refuse(err)
		return
	}
	for i, r := range results {
		if r.Err != nil {
			c.committing[i].abort(errStale)
		}
	}
}

// settle completes the conditions of a write whose base may still be on its way.
func (f *flight) settle(inBatch map[*flight]bool) error {
	if f.base != nil && inBatch[f.base] {
		return nil // the batch keeps the order
	}
	if f.base != nil {
		<-f.base.done // committed by an earlier batch, and about to be published
		if f.base.err != nil {
			return errStale
		}
		f.from = f.base.object.Version
	}
	f.write.Conditions = append(f.write.Conditions, persist.Condition{Key: f.write.Key, Revision: persist.Revision(f.from)})
	return nil
}

// refuse answers all flights of a batch that the log did not take. The process hears of a log
// that has failed when they have their answer.
func (c *committer) refuse(err error) {
	answer := noRoom()
	if !errors.Is(err, persist.ErrNoSpace) {
		answer = meta.NewServiceUnavailable("the server can not store changes any more and is stopping")
		defer c.store.fail(fmt.Errorf("log: %w", err))
	}
	for _, f := range slices.Concat(c.committing, c.waiting) {
		if !f.landed() {
			f.abort(answer)
		}
	}
	c.committing, c.waiting, c.bytes = nil, nil, 0
}

// noRoom answers what finds no room.
func noRoom() error {
	return meta.NewInsufficientStorage("the disk that keeps the objects is full")
}

// onlyWhatFrees refuses what a full disk has no room for and leaves the rest, for which room is
// kept, waiting. It answers false if there was only one or the other.
func (c *committer) onlyWhatFrees() bool {
	var rest []*flight
	for _, f := range c.committing {
		if f.write.Frees {
			rest = append(rest, f)
		}
	}
	if len(rest) == 0 || len(rest) == len(c.committing) {
		return false
	}
	for _, f := range c.committing {
		if !f.write.Frees {
			f.abort(noRoom())
		}
	}
	c.committing, c.waiting = nil, append(rest, c.waiting...)
	return true
}

// follow takes each durable batch from the log and hands its parts to the collections.
// The log calls it on the goroutine of Append.
func (c *committer) follow(batch []persist.Commit) {
	parts := make(map[*collection]*changes)
	for i := range batch {
		commit := &batch[i]
		var f *flight
		if commit.Index >= 0 {
			f = c.committing[commit.Index]
		}
		into, change := c.change(commit, f)
		part := parts[into]
		if part == nil {
			part = &changes{}
			parts[into] = part
		}
		part.records = append(part.records, change)
	}
	publication := c.store.horizon.begin(uint64(batch[len(batch)-1].Revision), len(parts))
	for into, part := range parts {
		part.publication = publication
		c.store.system.Root.Send(into.pid, part)
	}
}

// change makes the committed object of a commit. It keeps alive nothing else of the
// request.
func (c *committer) change(commit *persist.Commit, f *flight) (*collection, change) {
	if f != nil {
		return f.collection, change{object: f.committed(commit), remove: commit.Delete, time: commit.Time, flight: f}
	}
	into, object, err := c.store.decode(commit.Key, commit.Revision, commit.Value)
	if err != nil {
		panic(err)
	}
	return into, change{object: object, remove: commit.Delete, time: commit.Time}
}
