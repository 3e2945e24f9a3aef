package policies

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/quota"
)

// ResourceQuotas writes the usage in the quota ledger to the status of ResourceQuotas.
type ResourceQuotas struct {
	*reconcile.Controller[meta.Key]
	quotas reconcile.Client
	ledger *quota.Ledger
}

// NewResourceQuotas returns a controller for the quotas in ledger.
func NewResourceQuotas(env *reconcile.Env, ledger *quota.Ledger) *ResourceQuotas {
	c := &ResourceQuotas{quotas: env.Core("ResourceQuota"), ledger: ledger}
	c.Controller = reconcile.New(env, "resourcequota_primary", c.writeStatus, "cannot update the status of a quota", "key")
	c.Go(c.gather)
	return c
}

// statusDelay batches changes before a status write. Without the delay, many concurrent creates
// would each cause a write.
const statusDelay = 100 * time.Millisecond

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
		// The ledger keeps collecting changes during the delay.
		case <-time.After(statusDelay):
			c.Add(c.ledger.TakeChanges()...)
		}
	}
}

func (c *ResourceQuotas) writeStatus(ctx context.Context, key meta.Key) error {
	o, stored, err := c.quotas.Read(ctx, key)
	if err != nil || o == nil {
		return err
	}
	now, ok := c.ledger.Status(key)
	if !ok || now.UID != o.Meta.UID {
		return nil // the ledger does not know this quota yet
	}
	status := stored.Object("status")
	if sameAmounts(status.Object("hard"), now.Hard) && sameAmounts(status.Object("used"), now.Used) {
		return nil
	}
	return c.quotas.PatchStatus(ctx, o, tree.Tree{"hard": replacing(status.Object("hard"), now.Hard), "used": replacing(status.Object("used"), now.Used)})
}

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

func replacing(old, now tree.Tree) tree.Tree {
	for name := range old {
		if !now.Has(name) {
			// A null in a merge patch removes the field.
			now[name] = nil
		}
	}
	return now
}
