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

// This file computes changes to objects of kinds with a conversion webhook. A change is computed in
// the requested version, with the admission, validation and field managers of that version. The
// result is then converted to the stored version.
//
// The owner never waits for a webhook. It computes only changes that need no conversion: deletes
// without admission, and writes in the version in which the object is stored. All others are
// computed on the request's goroutine, even if only admission or the field managers of another
// version need a conversion.

// withoutWebhook returns a copy of m whose kind lets the owner process it without calling the
// conversion webhook. The returned detector records whether a conversion is needed after all.
func withoutWebhook(m *request.Mutation, state newestState) (*request.Mutation, *conversionDetector) {
	form := formWithoutWebhook(m, state)
	if form == nil {
		return nil, nil
	}
	calls, work := &conversionDetector{}, *m
	work.Kind = form
	return &work, calls
}

// formWithoutWebhook returns an API version in which m can be applied to the object without a call
// to the conversion webhook, or nil if there is none.
func formWithoutWebhook(m *request.Mutation, state newestState) *schema.Kind {
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

// conversionDetector rejects and records conversions while an owner computes a mutation, because
// the owner must not wait for a webhook.
type conversionDetector struct{ called bool }

var errInTurn = errors.New("a webhook must not be called in the turn of an object's owner")

func (t *conversionDetector) Convert(from, to *schema.Kind, object tree.Tree) (tree.Tree, error) {
	t.called = true
	return nil, errInTurn
}

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

func isCurrent(k *schema.Kind, o *meta.Object) bool {
	if !convert.IsWrittenAs(k.Stored, o) {
		return false
	}
	current, err := convert.ToCurrentSchema(k.Stored, o)
	return err == nil && current == o
}

// inStoredForm converts a candidate in the version of k to the stored form. before is the stored
// object or nil. The last state of a deleted object is not converted.
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
	rules.Default(k.Stored, object) // as any reader would see it
	return p.InForm(k.Stored, object, c, before)
}

// outsideConversions converts objects for one mutation by calling the conversion webhook. It is
// used only on the request's goroutine, because the owner must not wait for a webhook.
type outsideConversions struct {
	ctx   context.Context
	store *Store
	key   meta.Key
	known map[conversionKey]tree.Tree
}

type conversionKey struct {
	to   *schema.Kind
	json string
}

var _ request.Conversions = (*outsideConversions)(nil)

// Convert caches its results, because field managers, validation and admission mostly convert the
// same objects.
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
