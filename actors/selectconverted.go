package actors

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// selectsConverted reports whether selectors must be matched against converted objects, because a
// conversion webhook may change labels, or the converted version has other selectable fields.

func selectsConverted(k *schema.Kind, labels selector.Labels, fields selector.Fields) bool {
	return k.CallsWebhook() && k != k.Stored && (!labels.Empty() || !fields.OnlyNames())
}

const selectBatch = 500

// selected returns the objects whose converted form matches the selectors, already converted.
func (c *collection) selected(ctx context.Context, r request.List, state *snapshot, version uint64, from string) (request.ListResult, error) {
	l := request.ListResult{Version: version, Remaining: -1}
	for next := from; ; from = next {
		if err := ctx.Err(); err != nil {
			return l, err
		}
		batch, after := state.batch(r.Namespace, from)
		next = after
		converted, err := c.store.conversions.Convert(ctx, r.Kind, batch)
		if err != nil {
			return l, err
		}
		for i, o := range converted {
			if !r.Labels.Matches(o.Meta.Labels) || !r.Fields.Matches(o) {
				continue
			}
			if r.Limit > 0 && len(l.Items) == r.Limit {
				c.continueAt(&l, r, state, path(batch[i].Key.Namespace, batch[i].Key.Name))
				return l, nil
			}
			l.Items = append(l.Items, o)
		}
		if next == "" {
			return l, nil
		}
	}
}

// batch returns up to selectBatch objects of a namespace, starting at path from. next is the path
// of the next object, or empty at the end.
func (s *snapshot) batch(namespace, from string) (batch []*meta.Object, next string) {
	s.scan(namespace, from, func(path string, o *meta.Object) bool {
		if len(batch) == selectBatch {
			next = path
			return false
		}
		batch = append(batch, o)
		return true
	})
	return batch, next
}

func (w *watch) convertRecords() error {
	var objects []*meta.Object
	for _, r := range w.records {
		if objects = append(objects, r.object); r.previous != nil {
			objects = append(objects, r.previous)
		}
	}
	converted, err := w.collection.store.conversions.Convert(w.ctx, w.request.Kind, objects)
	if err != nil {
		return err
	}
	at := 0
	for i, r := range w.records {
		shown := &record{version: r.version, kind: r.kind, object: converted[at]}
		if at++; r.previous != nil {
			shown.previous = converted[at]
			at++
		}
		w.records[i] = shown
	}
	return nil
}

func (w *watch) convertInitial() error {
	if err := w.collection.store.conversions.Events(w.ctx, w.request.Kind, w.buffer); err != nil {
		return err
	}
	kept := w.buffer[:0]
	for _, e := range w.buffer {
		if e.Object == nil || w.matches(e.Object) {
			kept = append(kept, e)
		}
	}
	clear(w.buffer[len(kept):])
	w.buffer = kept
	return nil
}
