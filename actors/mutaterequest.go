package actors

import (
	"context"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// mutateRequest requests one mutation from an object's owner. reply is valid once answered is
// closed.
type mutateRequest struct {
	ctx          context.Context
	path         string // of the object
	mutation     *request.Mutation
	precondition createPrecondition // of a create
	// waited is the mutation as admitted outside of the owner's turn, or nil.
	waited *waitingMutation
	// renamed is a new object that admission has given the name of path, or nil.
	renamed  *mutation.Prepared
	reply    mutateReply
	answered chan struct{}
}

// mutateReply is the immediate answer of the owner: a refusal, a no-op, or the proposal to wait
// for. A refusal or no-op that was computed on a pending proposal waits for that too, because it
// must not be reported before it is durable.
type mutateReply struct {
	result   request.Result
	proposal *proposal
	// accepted means that the proposal carries the mutation itself. Otherwise the result or refusal
	// holds once the proposal is applied, the result under the version of the proposal.
	accepted bool
	retry    bool
	// turn is the committer's if the goroutine of the request is to lead the commit.
	turn runtime.Turn
	// waiting is a mutation to be admitted outside of the owner's turn.
	waiting *waitingMutation
	err     error
}

// waitingMutation is a mutation that is admitted outside of the owner's turn, or computed there
// completely because a webhook must convert for it.
type waitingMutation struct {
	base      uint64 // the version of its base; 0: no object
	converts  bool   // it is not computed yet
	object    *meta.Object
	prepared  mutation.Prepared
	candidate mutation.Candidate // after admission
}

// answer completes the request. It releases the reservation of a mutation that has waited and is
// not accepted.
func (m *mutateRequest) answer(r mutateReply) {
	if m.waited != nil && !r.accepted {
		m.waited.candidate.Reserved.Release()
	}
	m.reply = r
	close(m.answered)
}

func (m *mutateRequest) reject(err error) { m.answer(mutateReply{err: err}) }

// awaitAndRelease releases the owner when an abandoned, unanswered request is done.
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

// resultObject returns the object of a reply, if any, after its proposal is resolved.
func (r *mutateReply) resultObject() *meta.Object {
	if r.proposal != nil {
		return r.proposal.object
	}
	return r.result.Object
}

// outcome returns the final outcome, after the proposal is resolved.
func (r *mutateReply) outcome() (request.Result, error) {
	switch {
	case r.proposal == nil:
		return r.result, r.err
	case r.retry:
		return request.Result{}, errStale
	case r.proposal.err != nil && !r.accepted && r.proposal.undecided:
		return request.Result{}, errStale // it was computed on a state with an unknown outcome
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
