package controllers

import (
	"context"
	"log/slog"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/quota"
)

// ResourceQuotas keeps the status of quotas what the ledger says.
type ResourceQuotas struct {
	store  Store
	kind   *schema.Kind
	ledger *quota.Ledger
	logger *slog.Logger
	queue  *reconcile.Workqueue[meta.Key]
}

// NewResourceQuotas makes the controller of the quotas that a ledger follows.
func NewResourceQuotas(store Store, kinds *catalog.Catalog, ledger *quota.Ledger, logger *slog.Logger) *ResourceQuotas {
	return &ResourceQuotas{store, reconcile.CoreKind(kinds, "ResourceQuota"), ledger, logger, reconcile.NewWorkqueue[meta.Key]().Named("resourcequota_primary")}
}

// statusDelay is how long changes are gathered before they are written.
const statusDelay = 100 * time.Millisecond

// Run runs the controller until the context ends.
func (c *ResourceQuotas) Run(ctx context.Context) {
	go c.gather(ctx)
	c.queue.Run(ctx, c.writeStatus, func(key meta.Key, err error) {
		c.logger.Warn("the status of a quota cannot be written", "key", key.String(), "error", err)
	})
}

// gather puts quotas whose usage has changed into the queue.
// Without the delay, each of many objects created at once would cost a write of the status.
func (c *ResourceQuotas) gather(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.ledger.Changes():
		}
		select {
		case <-ctx.Done():
			return
		// Changes go on to be gathered by the ledger meanwhile, and are taken together.
		case <-time.After(statusDelay):
			c.queue.Add(c.ledger.TakeChanges()...)
		}
	}
}

// writeStatus writes the status of one quota, if it says anything else than the ledger.
func (c *ResourceQuotas) writeStatus(ctx context.Context, key meta.Key) error {
	o, err := c.store.Get(ctx, request.Get{Kind: c.kind, Key: key})
	if reconcile.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	now, ok := c.ledger.Status(key)
	if !ok || now.UID != o.Meta.UID {
		return nil // the ledger tells of the quota when it has seen it
	}
	stored, err := codec.DecodeStored(c.kind.Message(), o.JSON)
	if err != nil {
		return err
	}
	status := stored.Object("status")
	if sameAmounts(status.Object("hard"), now.Hard) && sameAmounts(status.Object("used"), now.Used) {
		return nil
	}
	change := tree.Tree{"hard": replacing(status.Object("hard"), now.Hard), "used": replacing(status.Object("used"), now.Used)}
	return reconcile.PatchIfUnchanged(ctx, c.store, c.kind, o, "status", tree.Tree{"status": change})
}

// sameAmounts tells whether two lists of resources have the same amounts, however they are written.
func sameAmounts(a, b tree.Tree) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if !b.Has(name) || amount.Read(a.String(name)).Cmp(amount.Read(b.String(name))) != 0 {
			return false
		}
	}
	return true
}

// replacing is the merge patch that makes one list of resources of another.
// now is changed, and must not be used for anything else afterwards.
func replacing(old, now tree.Tree) tree.Tree {
	for name := range old {
		if !now.Has(name) {
			// In a merge patch, null removes a field.
			now[name] = nil
		}
	}
	return now
}
