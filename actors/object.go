package actors

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/google/uuid"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
)

// object is the actor that owns the changes of one key: the one that it is asked about,
// which is another only after everything about the one before is settled (residents see
// to that). It computes each mutation on the newest state, which may still be on its way
// to the log: so the mutations of one object never conflict with each other, and many of
// them share one sync.
type object struct {
	activation   *activation
	path         string       // of the object that the rest is about
	tree         tree.Tree    // decoded newest state; nil if unknown
	treeSource   *meta.Object // what tree was decoded from; nil while tip is on its way
	treeKind     *schema.Kind // the stored kind that tree has the form of
	lastProposal *proposal    // the newest accepted change; nil after a start
}

// mutateRequest is one mutation with its one-slot answer.
type mutateRequest struct {
	ctx          context.Context
	path         string // of the object
	mutation     *request.Mutation
	precondition createPrecondition // of a create
	reply        chan mutateReply
}

// mutateReply is what an object's actor says at once: a refusal, a state that already is
// what was asked for, or the flight to wait for. A refusal or state that was computed on
// a flight waits for it too: nothing is told before it is durable.
type mutateReply struct {
	result   request.Result
	proposal *proposal
	// accepted says that flight carries the mutation itself; else the result or the refusal
	// holds once flight has landed, the result under the version of flight.
	accepted bool
	// retry asks to come again after flight has landed.
	retry bool
	err   error
}

// outcome is what the writer gets, after flight has landed.
func (a *mutateReply) outcome() (request.Result, error) {
	switch {
	case a.proposal == nil:
		return a.result, a.err
	case a.retry:
		return request.Result{}, errStale
	case a.proposal.err != nil:
		return request.Result{}, a.proposal.err
	case a.err != nil:
		return request.Result{}, a.err
	case a.accepted:
		return a.proposal.result(), nil
	}
	a.result.Object = a.proposal.object
	return a.result, nil
}

// awaitAndRelease lets the owner go when a question is settled whose asker has given up.
func (a *mutateRequest) awaitAndRelease(owner *activation) {
	answer := <-a.reply
	answer.awaitAndRelease(owner)
}

// awaitAndRelease is the same for an asker that has its answer.
func (a *mutateReply) awaitAndRelease(owner *activation) {
	if a.proposal != nil {
		<-a.proposal.done
	}
	owner.release(a.resultObject())
}

// resultObject is the object that an answer tells of, if any, after its flight has landed.
func (a *mutateReply) resultObject() *meta.Object {
	if a.proposal != nil {
		return a.proposal.object
	}
	return a.result.Object
}

// reject answers a request that its owner does not take.
func (a *mutateRequest) reject(err error) { a.reply <- mutateReply{err: err} }

// Receive implements runtime.Owner.
func (o *object) Receive(_ *runtime.Ref, message any) {
	switch m := message.(type) {
	case *mutateRequest:
		o.handle(m)
	case runtime.Stopping:
		o.activation.close()
	}
}

// handle answers one mutation exactly once, also if the code that computes it panics;
// the panic then goes on to the supervisor.
func (o *object) handle(m *mutateRequest) {
	answered := false
	defer func() {
		if reason := recover(); reason != nil {
			o.activation.faulty.Store(true)
			id := uuid.NewString()
			o.activation.collection.store.logger.Error("panic in a mutation", "id", id, "key", m.mutation.Key.String(),
				"reason", fmt.Sprint(reason), "stack", string(debug.Stack()))
			if !answered {
				m.reply <- mutateReply{err: meta.NewInternal(id)}
			}
			panic(reason)
		}
	}()
	if m.ctx.Err() != nil {
		answered = true
		m.reply <- mutateReply{err: meta.NewTimeout("the request ended before the object's turn came")}
		return
	}
	began := time.Now()
	out := o.mutate(m)
	o.activation.collection.mutations.add(time.Since(began))
	answered = true
	m.reply <- out
}

// mutate computes a mutation and sends it on its way.
func (o *object) mutate(m *mutateRequest) mutateReply {
	if o.path != m.path {
		*o = object{activation: o.activation, path: m.path}
	}
	if a := o.activation.collection.store.quarantine.get(m.mutation.Key); a != nil && (o.lastProposal == nil || o.lastProposal.resolved()) {
		return o.mutateUnreadable(m, a)
	}
	state, base, wait, err := o.state(m.mutation)
	if err != nil {
		o.activation.collection.store.logger.Error("a stored object cannot be read", "key", m.mutation.Key.String(), "error", err)
		return o.mutateUndecodable(m, state)
	}
	if wait {
		return mutateReply{proposal: base, retry: true}
	}
	store := o.activation.collection.store
	c, err := mutation.Apply(state, m.mutation, mutation.Env{
		Context: m.ctx, Now: store.now(), NewUID: uuid.NewString, Allocator: o.activation.collection.allocator,
		LastApplied: store.lastApplied, MaxBytes: store.tuning.ObjectBytes,
	})
	if err != nil {
		return mutateReply{proposal: base, err: err} // a refusal tells of the state it was computed on
	}
	if c.Created && m.precondition.refusal != nil {
		c.Allocation.Release()
		return mutateReply{proposal: base, err: m.precondition.refusal}
	}
	if c.Op == mutation.None {
		return mutateReply{proposal: base, result: request.Result{Object: state.Object, NoOp: c.NoOp, Warnings: c.Warnings}}
	}
	if m.mutation.DryRun {
		c.Allocation.Release()
		return mutateReply{result: dryRunResult(m.mutation, state, c)}
	}
	f := o.propose(m, state, base, c)
	return mutateReply{proposal: f, accepted: true}
}

// state is the newest state of the object. base is the flight it is from, if that has
// not landed; wait says that nothing can be computed before it has.
func (o *object) state(m *request.Mutation) (s mutation.State, base *proposal, wait bool, err error) {
	if o.lastProposal != nil && !o.lastProposal.resolved() {
		if o.lastProposal.candidate.Created || o.lastProposal.candidate.Op == mutation.Remove || m.Verb == request.Create || m.DryRun || o.lastProposal.kind != m.Kind.Stored {
			return s, o.lastProposal, true, nil
		}
		return mutation.State{Object: o.lastProposal.pendingObject(), Tree: o.lastProposal.candidate.Tree}, o.lastProposal, false, nil
	}
	if o.lastProposal != nil && o.lastProposal.err == nil && o.lastProposal.candidate.Op == mutation.Put && o.treeSource == nil {
		o.treeSource, o.tree, o.treeKind = o.lastProposal.object, o.lastProposal.candidate.Tree, o.lastProposal.kind
	}
	o.lastProposal = nil
	if o.treeKind != m.Kind.Stored { // the definition has changed
		o.treeSource, o.tree, o.treeKind = nil, nil, m.Kind.Stored
	}
	current := o.activation.collection.published.Load().get(o.path)
	if current == nil {
		o.treeSource, o.tree = nil, nil
		return mutation.State{}, nil, false, nil
	}
	s = mutation.State{Object: current, Committed: true}
	needed := o.activation.collection.allocator != nil || mutation.NeedsTree(current, m)
	converted, err := convert.ToCurrentSchema(o.treeKind, current)
	if err != nil && needed {
		return s, nil, false, err
	}
	s.Outdated = err == nil && converted != current
	if o.treeSource != current && (needed || s.Outdated) {
		tree, err := codec.DecodeStored(o.treeKind.Message, converted.JSON)
		if err != nil {
			return mutation.State{Object: current, Committed: true}, nil, false, err
		}
		o.treeSource, o.tree = current, tree
	}
	if o.treeSource == current {
		s.Tree = o.tree
	}
	return s, nil, false, nil
}

// propose hands an accepted candidate to the committer and makes it the newest state.
func (o *object) propose(m *mutateRequest, state mutation.State, base *proposal, c mutation.Candidate) *proposal {
	f := &proposal{
		collection: o.activation.collection, kind: m.mutation.Kind.Stored, candidate: c, key: m.mutation.Key, base: base, done: make(chan struct{}),
		write: persist.Write{
			Key: m.mutation.Key.String(), Value: c.Encoded.JSON, RevisionOffset: c.Encoded.VersionOffset,
			Delete: c.Op == mutation.Remove, Metadata: previousState(state, c),
			FreesSpace: m.mutation.Verb == request.Delete,
		},
	}
	if c.Created {
		f.write.Conditions = m.precondition.conditions
	}
	if base == nil && state.Object != nil {
		f.baseVersion = state.Object.Version
	}
	o.lastProposal, o.treeSource, o.tree = f, nil, nil
	o.activation.collection.store.committer.Send(f)
	return f
}

// dryRunResult is the result of a dry run: the candidate under the version of what is there.
func dryRunResult(m *request.Mutation, state mutation.State, c mutation.Candidate) request.Result {
	o := &meta.Object{Key: m.Key, ItemOffset: m.Kind.Stored.ItemOffset, Meta: c.Head}
	if state.Object == nil {
		o.JSON = c.Encoded.Unversioned()
	} else {
		o.Version = state.Object.Version
		o.JSON = c.Encoded.WithVersion(o.Version)
	}
	markSchemaID(m.Kind.Stored, o)
	return request.Result{Object: o, Created: c.Created, Deleted: c.Op == mutation.Remove, Warnings: c.Warnings}
}
