package actors

import (
	"context"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// mutateRequest asks an object's owner for one mutation. reply may be read once answered is closed.
type mutateRequest struct {
	ctx          context.Context
	path         string // path of the object
	mutation     *request.Mutation
	precondition createPrecondition // preconditions of a create
	// waited is set once the mutation has passed blocking admission on the request's goroutine.
	waited *waitingMutation
	// renamed is set if admission has changed the name of a new object. path contains the new name.
	renamed  *mutation.Prepared
	reply    mutateReply
	answered chan struct{}
}

// mutateReply is the owner's immediate response: a rejection, a no-op, or a proposal to wait for. A
// rejection or no-op based on a pending proposal also waits for that proposal, because the client
// must not see a result that depends on an uncommitted change.
type mutateReply struct {
	result   request.Result
	proposal *proposal
	// accepted means that the proposal contains this mutation. Otherwise, the reply is a rejection
	// or no-op based on another mutation's proposal. It becomes final when that proposal is
	// applied, and a no-op then returns the proposal's version.
	accepted bool
	retry    bool
	// turn lets the request's goroutine lead the commit by running the committer. If turn is zero,
	// another goroutine runs the committer.
	turn runtime.Turn
	// waiting is set if the mutation needs blocking admission or a conversion webhook, which must
	// not run in the owner.
	waiting *waitingMutation
	err     error
}

// waitingMutation is a mutation that the owner has handed back to the request's goroutine for
// blocking admission. If it needs a conversion webhook, that goroutine also computes it.
type waitingMutation struct {
	base      uint64 // version of the base object; 0: none
	converts  bool   // not computed yet
	object    *meta.Object
	prepared  mutation.Prepared
	candidate mutation.Candidate // after admission
}

func (m *mutateRequest) answer(r mutateReply) {
	if m.waited != nil && !r.accepted {
		m.waited.candidate.Reserved.Release()
	}
	m.reply = r
	close(m.answered)
}

func (m *mutateRequest) reject(err error) { m.answer(mutateReply{err: err}) }

func (m *mutateRequest) awaitAndRelease(owner *activation) {
	<-m.answered
	m.reply.awaitAndRelease(owner)
}

func (r *mutateReply) awaitAndRelease(owner *activation) {
	if r.proposal != nil {
		<-r.proposal.done
	}
	owner.release(r.resultObject())
}

// resultObject returns the object that results from the mutation, or nil. The proposal must be
// resolved.
func (r *mutateReply) resultObject() *meta.Object {
	if r.proposal != nil {
		return r.proposal.object
	}
	return r.result.Object
}

// outcome returns the result of the mutation. The proposal must be resolved.
func (r *mutateReply) outcome() (request.Result, error) {
	switch {
	case r.proposal == nil:
		return r.result, r.err
	case r.retry:
		return request.Result{}, errStale
	case r.proposal.err != nil && !r.accepted && r.proposal.undecided:
		return request.Result{}, errStale // it is based on a state with an unknown outcome
	case r.proposal.err != nil:
		return request.Result{}, r.proposal.err
	case r.err != nil:
		return request.Result{}, r.err
	case r.accepted:
		return r.proposal.result(), nil
	}
	r.result.Object = r.proposal.object
	return r.result, nil
}
