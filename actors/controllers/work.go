package controllers

import (
	"context"
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
)

// An observer is an Observer that does not care when everything has been seen.
type observer func(o *meta.Object, gone bool)

// See implements Observer.
func (f observer) See(o *meta.Object, gone bool) { f(o, gone) }

// Read implements Observer.
func (observer) Read() {}

// serve does what is in a backlog, until the context ends. What failed is told, but for
// conflicts, and tried again.
func (b *backlog[T]) serve(ctx context.Context, do func(context.Context, T) error, tell func(T, error)) {
	for {
		things := b.take(ctx, collectors)
		if things == nil {
			return
		}
		_ = each(things, func(t T) error {
			err := do(ctx, t)
			if err != nil && ctx.Err() == nil && !is(err, meta.ReasonConflict) {
				tell(t, err)
			}
			b.settle(ctx, t, err)
			return nil
		})
	}
}

// is tells why something was refused.
func is(err error, why meta.Reason) bool {
	var status *meta.Status
	return errors.As(err, &status) && status.Reason == why
}
