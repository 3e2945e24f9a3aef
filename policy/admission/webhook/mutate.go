package webhook

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/admission/review"
)

// A mutatingCall asks the mutating hooks about one change, in at most two rounds. It belongs to one request
// and one goroutine, and holds the hooks of its beginning.
type mutatingCall struct {
	plugin *Plugin
	index  *match.Index[*hook]

	asked map[*hook]bool // those that want to be asked again, since the object was last changed after one of them
	again map[*hook]bool // those to ask in the second round
	last  tree.Tree      // what the first round has made
}

// Admit implements request.Mutator. The first round determines the hooks of both. Between the rounds other plugins
// may have changed the object, which the comparison with last finds.
func (p *Plugin) Admit(a *request.Attributes) error {
	c, _ := a.Notes[p].(*mutatingCall)
	if c == nil {
		c = &mutatingCall{plugin: p, index: p.hooks.index(), asked: map[*hook]bool{}, again: map[*hook]bool{}}
		a.Note(p, c)
	}
	return c.admit(a)
}

func (c *mutatingCall) admit(a *request.Attributes) error {
	if a.Reinvocation && !tree.StrictEqual(c.last, subject(a)) {
		c.requireAgain()
	}
	for _, h := range c.index.Select(a.Kind, a.Subresource) {
		kind, err := h.criteria.Match(a, c.plugin.options.Namespaces)
		if err != nil {
			return err
		}
		if kind == nil {
			continue
		}
		if err := c.askOne(a.Context, h, kind, a); err != nil {
			return err
		}
	}
	if !a.Reinvocation {
		c.last, _ = tree.Clone(subject(a)).(tree.Tree)
	}
	return nil
}

// subject is what hooks change of a request. An operation such as a binding has a body, and no new object.
func subject(a *request.Attributes) tree.Tree {
	if a.Body != nil {
		return a.Body
	}
	return a.New
}

// requireAgain lets those be asked again that were asked before the object changed.
func (c *mutatingCall) requireAgain() {
	for h := range c.asked {
		c.again[h] = true
	}
	clear(c.asked)
}

// askOne asks one hook that a request matches, and changes the request as it says. A hook that has changed
// something is not itself asked again because of that: it enters asked only afterwards.
func (c *mutatingCall) askOne(ctx context.Context, h *hook, k *schema.Kind, a *request.Attributes) error {
	v, err := review.NewView(a, k)
	if err != nil {
		return err
	}
	v.BeforeCreation()
	if holds, err := h.hold(ctx, v, a, c.plugin); err != nil || !holds {
		return err
	}
	round := 0
	if a.Reinvocation {
		if round = 1; !c.again[h] {
			return nil
		}
	}
	began := time.Now()
	changed, err := c.change(ctx, h, v, k, a, round)
	o := h.outcomeOf(err)
	c.plugin.observe(h, a, o, time.Since(began))
	c.plugin.annotateMutation(a, h, round, changed)
	if changed {
		c.requireAgain()
	}
	if h.asksAgain {
		c.asked[h] = true
	}
	if err == nil {
		return nil
	}
	if !o.opens {
		return refusal(err)
	}
	return c.plugin.failOpen(ctx, a, h, round, h.index, err)
}

// change asks one hook, and changes the request as it says; it tells whether that has changed.
func (c *mutatingCall) change(ctx context.Context, h *hook, v *review.View, k *schema.Kind, a *request.Attributes, round int) (bool, error) {
	said, err := h.ask(ctx, v, a, c.plugin)
	if err != nil || len(said.patch) == 0 {
		return false, err
	}
	changed, err := h.applyPatch(said.patchText, v, k, a)
	if err == nil {
		c.plugin.annotatePatch(a, h, round, said.patch)
	}
	return changed, err
}

// failOpen lets a change pass although a hook could not be asked, unless the request is at its end. A
// request without time left cannot be completed; to let it pass would only move the error.
func (p *Plugin) failOpen(ctx context.Context, a *request.Attributes, h *hook, round, n int, err error) error {
	if !h.outcomeOf(err).canceled {
		p.log(ctx, h, "a webhook could not be asked, which its failurePolicy lets pass", err)
		p.options.Metrics.failedOpen(h)
		p.annotateFailedOpen(a, h, round, n)
	}
	if ctx.Err() != nil {
		return errTimeout()
	}
	return nil
}
