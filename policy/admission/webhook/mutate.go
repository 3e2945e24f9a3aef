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

// A mutatingCall runs the mutating webhooks for one mutation. It is not safe for concurrent use.
type mutatingCall struct {
	plugin *Plugin
	index  *match.Index[*hook]

	asked map[*hook]bool // reinvocable hooks called since the last change
	again map[*hook]bool // hooks for the second round
	last  tree.Tree      // object after the first round
}

// Admit runs one round of calls. The second round uses the same hooks as the first, even if
// configurations have changed. It compares the object with the first round's result, to detect
// changes by other plugins.
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

// subject returns the object that webhooks may modify. For a request with its own body, such as a
// binding, this is the body.
func subject(a *request.Attributes) tree.Tree {
	if a.Body != nil {
		return a.Body
	}
	return a.New
}

func (c *mutatingCall) requireAgain() {
	for h := range c.asked {
		c.again[h] = true
	}
	clear(c.asked)
}

// askOne calls a matching hook and applies its patch. It adds the hook to asked afterwards, so that
// the hook's own patch does not cause a reinvocation.
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

// failOpen ignores a failed call. If the request's context has ended, it returns a timeout error,
// because later calls would fail too.
func (p *Plugin) failOpen(ctx context.Context, a *request.Attributes, h *hook, round, n int, err error) error {
	if !h.outcomeOf(err).canceled {
		p.log(ctx, h, "failed to call a webhook; its failurePolicy ignores that", err)
		p.options.Metrics.failedOpen(h)
		p.annotateFailedOpen(a, h, round, n)
	}
	if ctx.Err() != nil {
		return errTimeout()
	}
	return nil
}
