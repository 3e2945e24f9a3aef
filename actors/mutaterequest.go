package actors

import (
	"context"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// mutateRequest asks an object's owner for one mutation. reply is valid once answered is closed.
type mutateRequest struct {
	ctx          context.Context
	path         string // of the object
	mutation     *request.Mutation
	precondition createPrecondition // of a create
	// waited is the mutation as it was admitted outside of the owner's turn; nil if it was not.
	waited *waitingMutation
	// renamed is a new object that admission has given the name of path; nil if it has not.
	renamed  *mutation.Prepared
	reply    mutateReply
	answered chan struct{}
}

// mutateReply is what the owner answers at once: a refusal, a state that already is what was
// asked for, or the proposal to wait for. A refusal or a state that was computed on a pending
// proposal waits for that too: nothing is told before it is durable.
type mutateReply struct {
	result   request.Result
	proposal *proposal
	// accepted says that the proposal carries the mutation itself; else the result or the refusal
	// holds once the proposal is applied, the result under the version of the proposal.
	accepted bool
	// retry asks to come again after the proposal is resolved.
	retry bool
	// waiting is the mutation to be admitted outside of the owner's turn.
	waiting *waitingMutation
	err     error
}

// waitingMutation is a mutation whose admission is asked outside of the owner's turn, or that is wholly computed there
// because a webhook has to convert for it.
type waitingMutation struct {
	base      uint64 // the version of the state that it was computed on; 0: no object
	converts  bool   // it is not computed yet
	object    *meta.Object
	prepared  mutation.Prepared
	candidate mutation.Candidate // once it is admitted
}

// answer answers the request. What was reserved for a mutation that has waited is released if that
// is not accepted.
func (m *mutateRequest) answer(r mutateReply) {
	if m.waited != nil && !r.accepted {
		m.waited.candidate.Reserved.Release()
	}
	m.reply = r
	close(m.answered)
}

// reject answers a request that is not handled.
func (m *mutateRequest) reject(err error) { m.answer(mutateReply{err: err}) }

// awaitAndRelease releases the owner when a request is done that was given up before it was answered.
func (m *mutateRequest) awaitAndRelease(owner *activation) {
	<-m.answered
	m.reply.awaitAndRelease(owner)
}

// awaitAndRelease does the same for a request that was given up after it was answered.
func (r *mutateReply) awaitAndRelease(owner *activation) {
	if r.proposal != nil {
		<-r.proposal.done
	}
	owner.release(r.resultObject())
}

// resultObject is the object that a reply tells of, if any, after its proposal is resolved.
func (r *mutateReply) resultObject() *meta.Object {
	if r.proposal != nil {
		return r.proposal.object
	}
	return r.result.Object
}

// outcome is the outcome of the request, after the proposal is resolved.
func (r *mutateReply) outcome() (request.Result, error) {
	switch {
	case r.proposal == nil:
		return r.result, r.err
	case r.retry:
		return request.Result{}, errStale
	case r.proposal.err != nil && !r.accepted && r.proposal.undecided:
		return request.Result{}, errStale // it was computed on a state that may not have come to be
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
