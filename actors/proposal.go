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

// proposal is one accepted mutation on its way from the object's owner through the committer to the
// collection. It is resolved once, as applied, aborted or undecided. Its outcome may be read once
// done is closed.
type proposal struct {
	collection *collection
	kind       *schema.Kind // stored kind with which the candidate was computed
	candidate  mutation.Candidate
	key        meta.Key
	// base is the proposal on whose result the candidate is based. It is nil once that proposal is
	// applied.
	base *proposal
	// baseVersion is the version that the candidate is based on, or 0 for a create. It is unknown
	// while base is set.
	baseVersion uint64
	write       persist.Write
	// companions are committed together with this proposal (companions.go). In a companion, whole
	// is the main proposal, which determines its outcome.
	companions []*proposal
	whole      *proposal
	unapplied  atomic.Int32 // count includes the proposal and its companions
	done       chan struct{}
	object     *meta.Object // the outcome: the committed state,
	err        error        // or an error
	undecided  bool         // despite the error, the change may be committed
}

func (p *proposal) size() int {
	size := len(p.write.Key) + len(p.write.Value) + len(p.write.Metadata)
	for _, part := range p.companions {
		size += part.size()
	}
	return size
}

func (p *proposal) pendingObject() *meta.Object {
	return &meta.Object{Key: p.key, JSON: p.candidate.Encoded.JSON, ItemOffset: p.kind.ItemOffset(), Meta: p.candidate.Head}
}

// committedObject returns the object that a commit stores. Its key and metadata do not reference
// the request, so that the request can be freed.
func (p *proposal) committedObject(commit *persist.Commit) *meta.Object {
	key, err := meta.ParseKey(commit.Key)
	if err != nil {
		panic(err)
	}
	o := &meta.Object{
		Key: key, Version: uint64(commit.Revision), JSON: commit.Value,
		ItemOffset: p.kind.ItemOffset(), Meta: p.candidate.Head.Within(commit.Value),
	}
	if p.candidate.Op == mutation.Put && p.kind.IsCustom() {
		o.SetConformsTo(p.kind.Origin.Schema.ID())
	}
	return o
}

// markApplied records that the change is published. When the proposal and all its companions are
// published, it commits their reservations and resolves the proposal.
func (p *proposal) markApplied(o *meta.Object) {
	p.object = o
	whole := cmp.Or(p.whole, p)
	if whole.unapplied.Add(-1) > 0 {
		return
	}
	for _, part := range whole.companions {
		part.candidate.Reserved.Commit()
	}
	if reserved := whole.candidate.Reserved; reserved != nil {
		reserved.Commit()
	}
	whole.resolve()
}

func (p *proposal) resolve() {
	p.collection.store.inProgress.Add(-1)
	p.base = nil
	close(p.done)
}

func (p *proposal) abort(err error) {
	p.candidate.Reserved.Release()
	p.releaseCompanions()
	p.err = err
	p.resolve()
}

func (p *proposal) resolved() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *proposal) result() request.Result {
	return request.Result{
		Object: p.object, Created: p.candidate.Created, Deleted: p.candidate.Op == mutation.Remove,
	}
}
