package actors

import (
	"context"
	"errors"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// This file is how objects change whose versions a webhook converts. A change is computed in the version of the request: on
// the object as that version shows it, with the admission, the validation and the owners of that version. What comes of it
// is then converted to the version that objects are stored in.
//
// The owner does not wait for a webhook. It computes what needs none by itself: a write in the stored version of an object
// that is stored so, and a delete that nobody admits, whatever version the object is in. Everything else it hands out, with
// the state that it is to be computed on, like a change whose admission waits; and what begins here and turns out to need a
// conversion, for the owner of a field in another version or for admission, begins again there.

// withoutWebhook returns a mutation in the working form in which its owner can begin to compute it, and whether that needs a
// webhook nevertheless; nil if it cannot begin. The kind of the mutation is one that a webhook converts.
func withoutWebhook(m *request.Mutation, state newestState) (*request.Mutation, *inTurn) {
	form := formInTurn(m, state)
	if form == nil {
		return nil, nil
	}
	calls, work := &inTurn{}, *m
	work.Kind = form
	return &work, calls
}

// formInTurn is the working form in which a mutation can begin in the owner's turn; nil if it cannot.
func formInTurn(m *request.Mutation, state newestState) *schema.Kind {
	stored := m.Kind.Stored
	switch {
	case state.unreadable:
		return stored.Origin.WorkingForm
	case state.Object != nil && (!m.Kind.CallsWebhook() || request.Is[request.Delete](m) && !m.Admits(request.OnDelete)):
		if form := convert.WrittenForm(m.Kind, state.Object); form != nil {
			return form
		}
		return stored.Origin.WorkingForm
	case m.Kind == stored && (state.Object == nil || convert.IsWrittenAs(stored, state.Object)):
		return stored.Origin.WorkingForm
	}
	return nil
}

// inTurn are the conversions of a mutation in its owner's turn: there are none.
type inTurn struct{ asked bool }

var errInTurn = errors.New("a webhook is not asked in the turn of an object's owner")

// Convert implements request.Conversions.
func (t *inTurn) Convert(from, to *schema.Kind, object tree.Tree) (tree.Tree, error) {
	t.asked = true
	return nil, errInTurn
}

// computeConverted computes a mutation that was handed out with the state that it is computed on.
func (s *Store) computeConverted(ctx context.Context, m *request.Mutation, w *waitingMutation, renamed *mutation.Prepared) error {
	conversions := &outsideConversions{ctx: ctx, store: s, key: m.Key, known: map[conversionKey]tree.Tree{}}
	work := *m
	work.Kind = m.Kind.Origin.WorkingForm
	env := s.mutationEnv(ctx)
	env.Conversions = conversions
	state, err := s.stateAs(ctx, m.Kind, w.object)
	if err != nil {
		return err
	}
	var p mutation.Prepared
	if renamed != nil {
		p = renamed.Rename(&work, conversions, state.Object != nil)
	} else if p, err = mutation.Prepare(state, &work, env); err == nil {
		err = p.Admit()
	}
	var c mutation.Candidate
	switch {
	case err != nil:
		return err
	case p.Waits():
		c, err = p.Wait(ctx)
	case p.Renamed():
	default:
		c, err = p.Finish()
	}
	w.prepared = p
	if err != nil || p.Renamed() {
		return err
	}
	if w.candidate, err = s.inStoredForm(&p, c, conversions, m.Kind, w.object); err != nil {
		c.Reserved.Release()
	}
	return err
}

// stateAs is a stored object as a version of its kind shows it; the zero state if there is none.
func (s *Store) stateAs(ctx context.Context, k *schema.Kind, o *meta.Object) (mutation.State, error) {
	if o == nil {
		return mutation.State{}, nil
	}
	shown, err := s.conversions.Get(ctx, k, "", o)
	if err != nil {
		return mutation.State{}, err
	}
	object, err := codec.DecodeStored(k.Message(), shown.JSON)
	return mutation.State{Object: shown, Tree: object, Committed: true, Outdated: !o.ConformsTo(k.Stored.Origin.Schema.ID()) && !isCurrent(k, o) || s.isStale(o)}, err
}

// isCurrent tells whether an object is stored in the stored version of a kind, as the schema of that has it.
func isCurrent(k *schema.Kind, o *meta.Object) bool {
	if !convert.IsWrittenAs(k.Stored, o) {
		return false
	}
	current, err := convert.ToCurrentSchema(k.Stored, o)
	return err == nil && current == o
}

// inStoredForm is a candidate of k's version in the form that objects are stored in. before is the object as it was stored;
// nil if there was none. The last state of an object that goes stays as it is.
func (s *Store) inStoredForm(p *mutation.Prepared, c mutation.Candidate, conversions *outsideConversions, k *schema.Kind, before *meta.Object) (mutation.Candidate, error) {
	switch {
	case c.Op == mutation.None || k == k.Stored:
		return c, nil
	case c.Op == mutation.Remove:
		c.Form = k.Origin.WorkingForm
		return c, nil
	}
	object, err := conversions.Convert(k.Origin.WorkingForm, k.Stored.Origin.WorkingForm, c.Tree)
	if err != nil {
		return c, err
	}
	rules.Default(k.Stored, object) // as whoever reads it would see it
	return p.InForm(k.Stored, object, c, before)
}

// outsideConversions are the conversions of one mutation that is computed on the goroutine of its request. Only that
// uses them.
type outsideConversions struct {
	ctx   context.Context
	store *Store
	key   meta.Key
	known map[conversionKey]tree.Tree
}

// A conversionKey is an object, as its JSON, and the version to which it is converted.
type conversionKey struct {
	to   *schema.Kind
	json string
}

var _ request.Conversions = (*outsideConversions)(nil)

// Convert implements request.Conversions. What was converted before is remembered, since owners, validation and admission
// mostly look at the same.
func (c *outsideConversions) Convert(from, to *schema.Kind, object tree.Tree) (tree.Tree, error) {
	json := codec.EncodeJSON(from, object).Unversioned()
	at := conversionKey{to, string(json)}
	if known, ok := c.known[at]; ok {
		return tree.Clone(known).(tree.Tree), nil
	}
	key := c.key
	if metadata := object.Object("metadata"); metadata.String("name") != "" || metadata.String("namespace") != "" {
		key.Namespace, key.Name = metadata.String("namespace"), metadata.String("name")
	}
	out, err := c.store.conversions.Ask(c.ctx, to, &meta.Object{Key: key, JSON: json})
	if err != nil {
		return nil, err
	}
	converted, err := codec.DecodeStored(to.Message(), out.JSON)
	if err != nil {
		return nil, err
	}
	c.known[at] = converted
	return tree.Clone(converted).(tree.Tree), nil
}
