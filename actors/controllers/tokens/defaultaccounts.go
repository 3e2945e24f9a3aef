package tokens

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

const defaultAccount = "default"

// DefaultAccounts creates the service account "default" in every namespace that is not terminating,
// and recreates it after deletion.
type DefaultAccounts struct {
	*reconcile.Controller[string] // queue of namespaces
	namespaces, accounts          reconcile.Client
}

func NewDefaultAccounts(env *reconcile.Env) *DefaultAccounts {
	d := &DefaultAccounts{namespaces: env.Core("Namespace"), accounts: env.Core("ServiceAccount")}
	d.Controller = reconcile.New(env, "serviceaccount", d.ensure, "cannot create the default service account of a namespace", "namespace")
	d.Watch(d.namespaces, reconcile.Updates(func(o *meta.Object) {
		if !o.Meta.Terminating {
			d.Add(o.Key.Name)
		}
	}))
	d.Watch(d.accounts, func(e reconcile.Event) {
		if e.Deleted && e.Key.Name == defaultAccount {
			d.Add(e.Key.Namespace)
		}
	})
	return d
}

func (d *DefaultAccounts) ensure(ctx context.Context, namespace string) error {
	if o, err := d.accounts.GetNamed(ctx, namespace, defaultAccount); o != nil || err != nil {
		return err
	}
	ns, err := d.namespaces.GetNamed(ctx, "", namespace)
	if err != nil || ns == nil || ns.Meta.Terminating {
		return err
	}
	return d.accounts.Ensure(ctx, tree.Tree{"metadata": tree.Tree{"name": defaultAccount, "namespace": namespace}})
}
