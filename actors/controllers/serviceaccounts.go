package controllers

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

const defaultAccount = "default"

// ServiceAccounts creates the service account "default" in every namespace that is not terminating,
// and creates it again after a delete.
type ServiceAccounts struct {
	*reconcile.Controller[string] // queue of namespaces
	namespaces, accounts          reconcile.Client
}

// NewServiceAccounts returns a new ServiceAccounts.
func NewServiceAccounts(env *Env) *ServiceAccounts {
	s := &ServiceAccounts{namespaces: env.Core("Namespace"), accounts: env.Core("ServiceAccount")}
	s.Controller = reconcile.New(env, "serviceaccount", s.ensure, "cannot create the default service account of a namespace", "namespace")
	s.Watch(s.namespaces, reconcile.Updates(func(o *meta.Object) {
		if !o.Meta.Terminating {
			s.Add(o.Key.Name)
		}
	}))
	s.Watch(s.accounts, func(e reconcile.Event) {
		if e.Deleted && e.Key.Name == defaultAccount {
			s.Add(e.Key.Namespace)
		}
	})
	return s
}

func (s *ServiceAccounts) ensure(ctx context.Context, namespace string) error {
	if o, err := s.accounts.GetNamed(ctx, namespace, defaultAccount); o != nil || err != nil {
		return err
	}
	ns, err := s.namespaces.GetNamed(ctx, "", namespace)
	if err != nil || ns == nil || ns.Meta.Terminating {
		return err
	}
	return s.accounts.Ensure(ctx, tree.Tree{"metadata": tree.Tree{"name": defaultAccount, "namespace": namespace}})
}
