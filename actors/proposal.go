package actors

import (
	"cmp"
	"sync/atomic"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// proposal is one accepted mutation on its way from its object's owner through the committer to
// the collection. It is resolved once: applied or aborted. The outcome is written before done is closed,
// and read afterwards.
type proposal struct {
	collection *collection
	kind       *schema.Kind // stored, by which the candidate was made
	candidate  mutation.Candidate
	key        meta.Key
	// base is the proposal that the candidate was computed on, if that was not applied yet.
	base *proposal
	// baseVersion is the version that the candidate was computed on; 0 for a create. It is
	// not known while base is set.
	baseVersion uint64
	write       persist.Write
	// companions are committed with this one (companions.go). Of a companion only whole, which it is a part of, what
	// it changes and its write are set: the fate of the whole is its own.
	companions []*proposal
	whole      *proposal
	unapplied  atomic.Int32 // of itself and its companions
	done       chan struct{}
	object     *meta.Object // the outcome: the committed state,
	err        error        // or why there is none
	undecided  bool         // there is an error, and yet the change may be committed
}

// size is about how many bytes the log will write.
func (p *proposal) size() int {
	size := len(p.write.Key) + len(p.write.Value) + len(p.write.Metadata)
	for _, part := range p.companions {
		size += part.size()
	}
	return size
}

// pendingObject is the proposed state, as an object without a version.
func (p *proposal) pendingObject() *meta.Object {
	return &meta.Object{Key: p.key, JSON: p.candidate.Encoded.JSON, ItemOffset: p.kind.ItemOffset(), Meta: p.candidate.Head}
}

// committedObject is the state that was stored. Its key and metadata are parts of what the log has made, and copies, which keep
// nothing of the request in memory.
func (p *proposal) committedObject(commit *persist.Commit) *meta.Object {
	key, err := meta.ParseKey(commit.Key)
	if err != nil {
		panic(err)
	}
	o := &meta.Object{
		Key: key, Version: uint64(commit.Revision), JSON: commit.Value,
		ItemOffset: p.kind.ItemOffset(), Meta: p.candidate.Head.Within(commit.Value),
	}
	if p.candidate.Op == mutation.Put {
		markSchemaID(p.kind, o)
	}
	return o
}

// markSchemaID records that an object was written by the schema of a stored kind.
func markSchemaID(k *schema.Kind, o *meta.Object) {
	if k.IsCustom() {
		o.SetConformsTo(k.Origin.Schema.ID())
	}
}

// markApplied notes that the change is published. With the last of its companions the proposal is resolved: only then
// is given back what they have let go, and answered who waits.
func (p *proposal) markApplied(o *meta.Object) {
	p.object = o
	whole := cmp.Or(p.whole, p)
	if whole.unapplied.Add(-1) > 0 {
		return
	}
	for _, part := range whole.companions {
		part.candidate.Reserved.Commit()
	}
	whole.candidate.Reserved.Commit()
	whole.resolve()
}

// resolve lets go of the proposals before, and wakes those who wait.
func (p *proposal) resolve() {
	p.base = nil
	close(p.done)
}

// abort resolves the proposal: its change was not committed.
func (p *proposal) abort(err error) {
	p.candidate.Reserved.Release()
	p.releaseCompanions()
	p.err = err
	p.resolve()
}

// resolved tells whether the outcome is known.
func (p *proposal) resolved() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// result is what the writer gets.
func (p *proposal) result() request.Result {
	return request.Result{
		Object: p.object, Created: p.candidate.Created, Deleted: p.candidate.Op == mutation.Remove,
	}
}
