package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission/review"
)

type prepared struct {
	hook *hook
	view *review.View
}

// Validate calls all matching webhooks in parallel. If several deny the request, it returns the
// error of the first one in hook order.
func (p *Plugin) Validate(a *request.Attributes) error {
	ctx := a.Context
	ask, err := p.prepare(ctx, a)
	if err != nil || len(ask) == 0 {
		return err
	}
	if ctx.Err() != nil {
		return errTimeout()
	}
	errs := make([]error, len(ask))
	var all sync.WaitGroup
	for i := range ask {
		all.Go(func() { errs[i] = p.askOne(ctx, ask[i], i, a) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare returns the matching webhooks whose match conditions hold. Webhooks that match the same
// version share a view.
func (p *Plugin) prepare(ctx context.Context, a *request.Attributes) (ask []prepared, err error) {
	views := map[*schema.Kind]*review.View{}
	for _, h := range p.hooks.index().Select(a.Kind, a.Subresource) {
		kind, err := h.criteria.Match(a, p.options.Namespaces)
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
		holds, err := h.hold(ctx, views[kind], a, p)
		if err != nil {
			return nil, err
		}
		if holds {
			ask = append(ask, prepared{h, views[kind]})
		}
	}
	return ask, nil
}

// askOne calls the n-th webhook. A panic rejects the request instead of crashing the process.
func (p *Plugin) askOne(ctx context.Context, q prepared, n int, a *request.Attributes) (err error) {
	h := q.hook
	defer func() {
		if reason := recover(); reason != nil {
			err = internal(fmt.Errorf("ValidatingAdmissionWebhook/%v has panicked: %v", h.name, reason))
		}
	}()
	began := time.Now()
	_, err = h.ask(ctx, q.view, a, p)
	o := h.outcomeOf(err)
	p.observe(h, a, o, time.Since(began))
	if err == nil {
		return nil
	}
	if !o.opens {
		return refusal(err)
	}
	return p.failOpen(ctx, a, h, 0, n, err)
}
