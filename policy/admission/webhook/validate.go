package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/admission/review"
)

// A validatingCall asks the validating hooks about one change, all at once. Hooks cannot see each other's
// answers, so they need no order.
type validatingCall struct {
	plugin *Plugin
	index  *match.Index[*hook]
}

var _ admission.WaitingCall = (*validatingCall)(nil)

// Mutate implements admission.WaitingCall.
func (c *validatingCall) Mutate(context.Context, *admission.Attributes) error { return nil }

// A prepared question is a hook to ask, with what it gets to see.
type prepared struct {
	hook *hook
	view *review.View
}

// Validate implements admission.WaitingCall. All answers are waited for, and the error of the first in
// order is told, so that it is the same each time.
func (c *validatingCall) Validate(ctx context.Context, a *admission.Attributes) error {
	ask, err := c.prepare(ctx, a)
	if err != nil || len(ask) == 0 {
		return err
	}
	if ctx.Err() != nil {
		return errTimeout()
	}
	errs := make([]error, len(ask))
	var all sync.WaitGroup
	for i := range ask {
		all.Go(func() { errs[i] = c.askOne(ctx, ask[i], i, a) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare finds the hooks that the request matches. Conditions are evaluated one after the other before
// anything is sent; views are shared by hooks of one version.
func (c *validatingCall) prepare(ctx context.Context, a *admission.Attributes) (ask []prepared, err error) {
	views := map[*schema.Kind]*review.View{}
	for _, h := range c.index.Select(a.Kind, a.Subresource) {
		kind, err := h.criteria.Match(a, c.plugin.options.Namespaces)
		if err != nil {
			return nil, err
		}
		if kind == nil {
			continue
		}
		if views[kind] == nil {
			if views[kind], err = review.NewView(a, kind); err != nil {
				return nil, err
			}
		}
		holds, err := h.hold(ctx, views[kind], a, c.plugin)
		if err != nil {
			return nil, err
		}
		if holds {
			ask = append(ask, prepared{h, views[kind]})
		}
	}
	return ask, nil
}

// askOne asks the n-th of the hooks. It runs on a goroutine of its own, whose panics are the hook's.
func (c *validatingCall) askOne(ctx context.Context, p prepared, n int, a *admission.Attributes) (err error) {
	h := p.hook
	defer func() {
		if reason := recover(); reason != nil {
			err = internal(fmt.Errorf("ValidatingAdmissionWebhook/%v has panicked: %v", h.name, reason))
		}
	}()
	began := time.Now()
	_, err = h.ask(ctx, p.view, a, c.plugin)
	o := h.outcomeOf(err)
	c.plugin.observe(h, a, o, time.Since(began))
	if err == nil {
		return nil
	}
	if !o.opens {
		return refusal(err)
	}
	return c.plugin.failOpen(ctx, a, h, 0, n, err)
}
