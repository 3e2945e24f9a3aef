package actors

import (
	"cmp"
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

// object is the actor that owns the changes to one key. It computes each mutation from the newest
// state, which may not be committed yet. Mutations of one object therefore never conflict, and many
// can share one sync.
type object struct {
	activation   *activation
	path         string       // path of the current object
	tree         tree.Tree    // the decoded newest state; nil if unknown
	treeSource   *meta.Object // what tree was decoded from; nil while a proposal is pending
	treeKind     *schema.Kind // the stored kind of tree
	lastProposal *proposal    // the newest accepted change; nil after a start
	onSender     bool         // the current message runs on the goroutine of its request
}

type newestState struct {
	mutation.State
	// pending is the proposal that produced the state, or nil once it has been applied.
	pending *proposal
	// unreadable means that the object cannot be decoded. It can only be deleted.
	unreadable bool
}

func (o *object) Receive(self *runtime.Ref, message any) {
	switch m := message.(type) {
	case *mutateRequest:
		o.onSender = self.OnSender()
		o.answer(m)
	case runtime.Stopping:
		o.activation.close()
	}
}

// answer sends exactly one reply to the request, even if the mutation panics. It then panics again,
// so that the supervisor handles the panic.
func (o *object) answer(m *mutateRequest) {
	answered := false
	defer func() {
		if reason := recover(); reason != nil {
			o.activation.faulty.Store(true)
			err := o.store().internalError("panic in a mutation", m.mutation, reason)
			if !answered {
				m.answer(mutateReply{err: err})
			}
			panic(reason)
		}
	}()
	if m.ctx.Err() != nil {
		answered = true
		m.answer(mutateReply{err: meta.NewTimeout("the request ended before it was processed")})
		return
	}
	began := time.Now()
	reply := o.handle(m)
	o.activation.collection.mutations.add(time.Since(began))
	answered = true
	m.answer(reply)
}

func (s *Store) internalError(text string, m *request.Mutation, reason any) error {
	id := uuid.NewString()
	s.logger.Error(text, "id", id, "key", m.Key.String(), "reason", fmt.Sprint(reason), "stack", string(debug.Stack()))
	return meta.NewInternal(id)
}

func (o *object) store() *Store { return o.activation.collection.store }

// handle computes a mutation and submits the result as a proposal.
func (o *object) handle(m *mutateRequest) mutateReply {
	if o.path != m.path {
		*o = object{activation: o.activation, path: m.path, onSender: o.onSender}
	}
	if m.waited != nil {
		return o.resume(m)
	}
	state, mustWait := o.newest(m.mutation)
	if mustWait {
		return mutateReply{proposal: state.pending, retry: true}
	}
	work, conversions := m.mutation, request.Conversions(nil)
	var calls *conversionDetector
	if work.Kind.ConversionWebhook() != nil {
		if work, calls = withoutWebhook(work, state); work == nil {
			return handOut(state, waitingMutation{converts: true, object: state.Object})
		}
		conversions = calls
	}
	p, err := o.admit(m, work, conversions, state)
	waits := err == nil && (p.Waits() || p.Renamed())
	var c mutation.Candidate
	if err == nil && !waits {
		c, err = p.Finish()
	}
	switch {
	case calls != nil && (calls.called || waits):
		c.Reserved.Release()
		return handOut(state, waitingMutation{converts: true, object: state.Object})
	case waits:
		return handOut(state, waitingMutation{prepared: p})
	case err != nil:
		return mutateReply{proposal: state.pending, err: err} // a rejection depends on the state on which it was computed
	}
	if calls != nil && work.Kind != m.mutation.Kind.Stored.Origin.WorkingForm {
		c.Form = work.Kind
	}
	if err := p.Reserve(&c); err != nil {
		// Retry after the pending change, which may free the missing quota or other resource.
		return mutateReply{proposal: state.pending, err: err, retry: state.pending != nil}
	}
	reply := o.submit(m, state, c)
	if !reply.accepted {
		c.Reserved.Release()
	}
	return reply
}

// admit prepares a mutation and runs the non-blocking admission plugins. If admission has renamed
// the new object, the mutation has already been prepared and admitted, and only its name changes.
func (o *object) admit(r *mutateRequest, m *request.Mutation, conversions request.Conversions, state newestState) (mutation.Prepared, error) {
	if r.renamed != nil {
		return r.renamed.Rename(m, conversions, state.Object != nil), nil
	}
	var p mutation.Prepared
	var err error
	if state.unreadable {
		p, err = o.prepareUnreadable(m, state.Object)
	} else {
		env := o.store().mutationEnv(r.ctx)
		env.Allocator, env.Conversions = o.activation.collection.allocator, conversions
		p, err = mutation.Prepare(state.State, m, env)
	}
	if err == nil {
		err = p.Admit()
	}
	return p, err
}

func (s *Store) mutationEnv(ctx context.Context) mutation.Env {
	return mutation.Env{Context: ctx, Now: s.objectTime(), NewUID: uuid.NewString, LastApplied: s.lastApplied, MaxBytes: s.tuning.ObjectBytes}
}

// handOut returns the mutation to the request's goroutine, which runs blocking admission or a
// conversion webhook. Plugins and webhooks must not see uncommitted state, so the request first
// waits for any pending proposal and retries.
func handOut(state newestState, w waitingMutation) mutateReply {
	if state.pending != nil {
		return mutateReply{proposal: state.pending, retry: true}
	}
	w.base = versionOf(state.Object)
	return mutateReply{waiting: &w}
}

func (o *object) resume(m *mutateRequest) mutateReply {
	if o.lastProposal != nil && !o.lastProposal.resolved() {
		return mutateReply{err: errStale}
	}
	current, _ := o.stored(m.mutation.Key)
	if versionOf(current) != m.waited.base {
		return mutateReply{err: errStale}
	}
	if err := m.waited.prepared.Reserve(&m.waited.candidate); err != nil {
		return mutateReply{err: err}
	}
	return o.submit(m, newestState{State: mutation.State{Object: current, Committed: true}}, m.waited.candidate)
}

func versionOf(o *meta.Object) uint64 {
	if o == nil {
		return 0
	}
	return o.Version
}

func (o *object) stored(key meta.Key) (object *meta.Object, unreadable bool) {
	if a := o.store().quarantine.get(key); a != nil {
		return nameOnlyObject(o.activation.collection.kind(), key, a.Version), true
	}
	return o.activation.collection.published.Load().get(o.path), false
}

// newest returns the newest state of the object. mustWait reports whether the mutation has to wait
// for the pending proposal.
func (o *object) newest(m *request.Mutation) (s newestState, mustWait bool) {
	if last := o.lastProposal; last != nil && !last.resolved() {
		s.pending = last
		if last.candidate.Created || last.candidate.Op == mutation.Remove || request.Is[request.Create](m) || m.DryRun || last.kind != m.Kind.Stored || mutation.NeedsVersion(m) {
			return s, true
		}
		s.State = mutation.State{Object: last.pendingObject(), Tree: last.candidate.Tree}
		return s, false
	}
	o.keepTree(m.Kind.Stored)
	current, unreadable := o.stored(m.Key)
	if current == nil {
		o.treeSource, o.tree = nil, nil
		return s, false
	}
	s.State, s.unreadable = mutation.State{Object: current, Committed: true}, unreadable
	if !unreadable {
		if err := o.decode(&s.State, m); err != nil {
			o.store().logger.Error("cannot decode a stored object", "key", m.Key.String(), "error", err)
			s.unreadable = true
		}
	}
	return s, false
}

// keepTree keeps the tree of the last proposal, so that the next mutation need not decode the
// object again. The proposal must be resolved.
func (o *object) keepTree(kind *schema.Kind) {
	if last := o.lastProposal; last != nil && last.err == nil && last.candidate.Op == mutation.Put && o.treeSource == nil {
		o.treeSource, o.tree, o.treeKind = last.object, last.candidate.Tree, last.kind
	}
	o.lastProposal = nil
	if o.treeKind != kind { // the CRD has changed
		o.treeSource, o.tree, o.treeKind = nil, nil, kind
	}
}

func (o *object) decode(s *mutation.State, m *request.Mutation) error {
	needed := o.treeSource == s.Object || o.activation.collection.allocator != nil || mutation.NeedsTree(s.Object, m)
	converted, err := convert.ToCurrentSchema(o.treeKind, s.Object)
	if err != nil && needed {
		return err
	}
	s.Outdated = err == nil && (converted != s.Object || o.store().isStale(s.Object))
	if o.treeSource != s.Object && (needed || s.Outdated) {
		tree, err := codec.DecodeStored(o.treeKind.Message(), converted.JSON)
		if err != nil {
			return err
		}
		o.treeSource, o.tree = s.Object, tree
	}
	if o.treeSource == s.Object {
		s.Tree = o.tree
	}
	return nil
}

func (o *object) submit(m *mutateRequest, state newestState, c mutation.Candidate) mutateReply {
	switch {
	case c.Created && m.precondition.refusal != nil:
		return mutateReply{proposal: state.pending, err: m.precondition.refusal}
	case c.Op == mutation.None:
		return mutateReply{proposal: state.pending, result: request.Result{Object: state.Object, NoOp: c.NoOp}}
	case m.mutation.DryRun:
		return mutateReply{result: dryRunResult(m.mutation, state.Object, c)}
	}
	p := o.newProposal(m, state, c)
	if c.Reserved != nil {
		if err := o.addCompanions(m, p); err != nil {
			return mutateReply{proposal: state.pending, err: err, retry: state.pending != nil}
		}
	}
	p.unapplied.Store(int32(1 + len(p.companions)))
	o.lastProposal, o.treeSource, o.tree = p, nil, nil
	reply := mutateReply{proposal: p, accepted: true}
	s := o.store()
	s.inProgress.Add(1)
	if turn := s.committer.Enqueue(p); o.onSender && s.mayLead() {
		reply.turn = turn
	} else {
		turn.Dispatch()
	}
	return reply
}

func (o *object) newProposal(m *mutateRequest, state newestState, c mutation.Candidate) *proposal {
	p := &proposal{collection: o.activation.collection, kind: cmp.Or(c.Form, m.mutation.Kind.Stored), candidate: c, key: m.mutation.Key, base: state.pending, done: make(chan struct{})}
	p.write = writeOf(p, state.State)
	p.write.FreesSpace = request.Is[request.Delete](m.mutation) || c.Op == mutation.Remove
	if c.Reserved != nil {
		addReserved(&p.write, c.Reserved)
	}
	if f := m.mutation.Fence; f != nil {
		p.write.Guards = append(p.write.Guards, persist.Guard{Name: persist.FencePrefix + f.Name, Seen: persist.Revision(f.Seen), Raise: f.Raise})
	}
	if c.Created {
		p.write.Conditions = m.precondition.conditions
	}
	if state.pending == nil {
		p.baseVersion = versionOf(state.Object)
	}
	return p
}

func writeOf(p *proposal, state mutation.State) persist.Write {
	return persist.Write{
		Key: p.key.String(), Value: p.candidate.Encoded.JSON, RevisionOffset: p.candidate.Encoded.VersionOffset,
		Delete: p.candidate.Op == mutation.Remove, Metadata: previousState(state, p.candidate),
	}
}

func dryRunResult(m *request.Mutation, current *meta.Object, c mutation.Candidate) request.Result {
	form := cmp.Or(c.Form, m.Kind.Stored)
	o := &meta.Object{Key: m.Key, ItemOffset: form.ItemOffset(), Meta: c.Head}
	if current == nil {
		o.JSON = c.Encoded.Unversioned()
	} else {
		o.Version = current.Version
		o.JSON = c.Encoded.WithVersion(o.Version)
	}
	if form.IsCustom() {
		o.SetConformsTo(form.Origin.Schema.ID())
	}
	return request.Result{Object: o, Created: c.Created, Deleted: c.Op == mutation.Remove}
}
