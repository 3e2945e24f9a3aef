package actors

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/uuid"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// object is the actor that owns the changes of one key: the one that it is asked about,
// which is another only after everything about the one before is settled (residents see
// to that). It computes each mutation on the newest state, which may still be on its way
// to the log: so the mutations of one object never conflict with each other, and many of
// them share one sync.
type object struct {
	resident *resident
	path     string       // of the object that the rest is about
	tree     schema.Tree  // decoded newest state; nil if unknown
	of       *meta.Object // what tree was decoded from; nil while tip is on its way
	form     *schema.Kind // the stored kind that tree has the form of
	tip      *flight      // the newest accepted change; nil after a start
}

// ask is one mutation with its one-slot answer.
type ask struct {
	ctx      context.Context
	path     string // of the object
	mutation *request.Mutation
	home     home // of a create
	reply    chan answer
}

// answer is what an object's actor says at once: a refusal, a state that already is
// what was asked for, or the flight to wait for. A refusal or state that was computed on
// a flight waits for it too: nothing is told before it is durable.
type answer struct {
	result request.Result
	flight *flight
	// own says that flight carries the mutation itself; else the result or the refusal
	// holds once flight has landed, the result under the version of flight.
	own bool
	// retry asks to come again after flight has landed.
	retry bool
	err   error
}

// outcome is what the writer gets, after flight has landed.
func (a *answer) outcome() (request.Result, error) {
	switch {
	case a.flight == nil:
		return a.result, a.err
	case a.retry:
		return request.Result{}, errStale
	case a.flight.err != nil:
		return request.Result{}, a.flight.err
	case a.err != nil:
		return request.Result{}, a.err
	case a.own:
		return a.flight.result(), nil
	}
	a.result.Object = a.flight.object
	return a.result, nil
}

// settle lets the owner go when a question is settled whose asker has given up.
func (a *ask) settle(owner *resident) {
	answer := <-a.reply
	answer.settle(owner)
}

// settle is the same for an asker that has its answer.
func (a *answer) settle(owner *resident) {
	if a.flight != nil {
		<-a.flight.done
	}
	owner.release(a.about())
}

// about is the object that an answer tells of, if any, after its flight has landed.
func (a *answer) about() *meta.Object {
	if a.flight != nil {
		return a.flight.object
	}
	return a.result.Object
}

// reject implements rejectable.
func (a *ask) reject(err error) { a.reply <- answer{err: err} }

// Receive implements actor.Actor.
func (o *object) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *ask:
		o.handle(m)
	case *actor.Stopping:
		o.resident.close()
	}
}

// handle answers one mutation exactly once, also if the code that computes it panics;
// the panic then goes on to the supervisor.
func (o *object) handle(m *ask) {
	answered := false
	defer func() {
		if reason := recover(); reason != nil {
			o.resident.faulty.Store(true)
			id := uuid.NewString()
			o.resident.collection.store.logger.Error("panic in a mutation", "id", id, "key", m.mutation.Key.String(),
				"reason", fmt.Sprint(reason), "stack", string(debug.Stack()))
			if !answered {
				m.reply <- answer{err: meta.NewInternal(id)}
			}
			panic(reason)
		}
	}()
	if m.ctx.Err() != nil {
		answered = true
		m.reply <- answer{err: meta.NewTimeout("the request ended before the object's turn came")}
		return
	}
	began := time.Now()
	out := o.mutate(m)
	o.resident.collection.turns.add(time.Since(began))
	answered = true
	m.reply <- out
}

// mutate computes a mutation and sends it on its way.
func (o *object) mutate(m *ask) answer {
	if o.path != m.path {
		*o = object{resident: o.resident, path: m.path}
	}
	if a := o.resident.collection.store.quarantine.get(m.mutation.Key); a != nil && (o.tip == nil || o.tip.landed()) {
		return o.unread(m, a)
	}
	state, base, wait, err := o.state(m.mutation)
	if err != nil {
		o.resident.collection.store.logger.Error("a stored object cannot be read", "key", m.mutation.Key.String(), "error", err)
		return o.undecoded(m, state)
	}
	if wait {
		return answer{flight: base, retry: true}
	}
	store := o.resident.collection.store
	c, err := mutation.Apply(state, m.mutation, mutation.Env{
		Context: m.ctx, Now: store.now(), NewUID: uuid.NewString, Claims: o.resident.collection.claims,
		LastApplied: store.lastApplied, MaxBytes: store.tuning.ObjectBytes,
	})
	if err != nil {
		return answer{flight: base, err: err} // a refusal tells of the state it was computed on
	}
	if c.Created && m.home.refusal != nil {
		c.Claim.Drop()
		return answer{flight: base, err: m.home.refusal}
	}
	if c.Op == mutation.None {
		return answer{flight: base, result: request.Result{Object: state.Object, Idle: c.Idle, Warnings: c.Warnings}}
	}
	if m.mutation.DryRun {
		c.Claim.Drop()
		return answer{result: preview(m.mutation, state, c)}
	}
	f := o.launch(m, state, base, c)
	return answer{flight: f, own: true}
}

// state is the newest state of the object. base is the flight it is from, if that has
// not landed; wait says that nothing can be computed before it has.
func (o *object) state(m *request.Mutation) (s mutation.State, base *flight, wait bool, err error) {
	if o.tip != nil && !o.tip.landed() {
		if o.tip.candidate.Created || o.tip.candidate.Op == mutation.Remove || m.Verb == request.Create || m.DryRun || o.tip.kind != m.Kind.Stored {
			return s, o.tip, true, nil
		}
		return mutation.State{Object: o.tip.pending(), Tree: o.tip.candidate.Tree}, o.tip, false, nil
	}
	if o.tip != nil && o.tip.err == nil && o.tip.candidate.Op == mutation.Put && o.of == nil {
		o.of, o.tree, o.form = o.tip.object, o.tip.candidate.Tree, o.tip.kind
	}
	o.tip = nil
	if o.form != m.Kind.Stored { // the definition has changed
		o.of, o.tree, o.form = nil, nil, m.Kind.Stored
	}
	current := o.resident.collection.published.Load().get(o.path)
	if current == nil {
		o.of, o.tree = nil, nil
		return mutation.State{}, nil, false, nil
	}
	s = mutation.State{Object: current, Fresh: true}
	needed := o.resident.collection.claims != nil || mutation.NeedsTree(current, m)
	form, err := convert.Current(o.form, current)
	if err != nil && needed {
		return s, nil, false, err
	}
	s.Outdated = err == nil && form != current
	if o.of != current && (needed || s.Outdated) {
		tree, err := codec.DecodeStored(o.form.Message, form.JSON)
		if err != nil {
			return mutation.State{Object: current, Fresh: true}, nil, false, err
		}
		o.of, o.tree = current, tree
	}
	if o.of == current {
		s.Tree = o.tree
	}
	return s, nil, false, nil
}

// launch hands an accepted candidate to the committer and makes it the newest state.
func (o *object) launch(m *ask, state mutation.State, base *flight, c mutation.Candidate) *flight {
	f := &flight{
		collection: o.resident.collection, kind: m.mutation.Kind.Stored, candidate: c, key: m.mutation.Key, base: base, done: make(chan struct{}),
		write: persist.Write{
			Key: m.mutation.Key.String(), Value: c.Encoded.JSON, Slot: c.Encoded.Slot,
			Delete: c.Op == mutation.Remove, Note: note(state, c),
			Frees: m.mutation.Verb == request.Delete,
		},
	}
	if c.Created {
		f.write.Conditions = m.home.conditions
	}
	if base == nil && state.Object != nil {
		f.from = state.Object.Version
	}
	o.tip, o.of, o.tree = f, nil, nil
	o.resident.collection.store.queue.post(f)
	return f
}

// preview is the result of a dry run: the candidate under the version of what is there.
func preview(m *request.Mutation, state mutation.State, c mutation.Candidate) request.Result {
	o := &meta.Object{Key: m.Key, Item: m.Kind.Stored.Item, Head: c.Head}
	if state.Object == nil {
		o.JSON = c.Encoded.Unversioned()
	} else {
		o.Version = state.Object.Version
		o.JSON = c.Encoded.WithVersion(o.Version)
	}
	markForm(m.Kind.Stored, o)
	return request.Result{Object: o, Created: c.Created, Gone: c.Op == mutation.Remove, Warnings: c.Warnings}
}
