package controllers

import (
	"context"
	"log/slog"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// defaultAccount is the name of the service account of Pods that name none.
const defaultAccount = "default"

// ServiceAccounts creates the service account "default" in every namespace that is not being deleted,
// and creates it again when it is deleted.
type ServiceAccounts struct {
	store                Store
	namespaces, accounts *schema.Kind
	logger               *slog.Logger
	queue                *reconcile.Workqueue[string] // names of namespaces
}

// NewServiceAccounts returns the controller for the kinds of a catalogue.
func NewServiceAccounts(store Store, kinds *catalog.Catalog, logger *slog.Logger) *ServiceAccounts {
	return &ServiceAccounts{
		store: store, logger: logger, queue: reconcile.NewWorkqueue[string]().Named("serviceaccount"),
		namespaces: reconcile.CoreKind(kinds, "Namespace"),
		accounts:   reconcile.CoreKind(kinds, "ServiceAccount"),
	}
}

// Run runs the controller until the context ends.
func (s *ServiceAccounts) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		reconcile.RunInformer(ctx, s.store, s.namespaces, reconcile.UpdateHandlerFunc(func(o *meta.Object) {
			if !o.Meta.Terminating {
				s.queue.Add(o.Key.Name)
			}
		}))
	})
	running.Go(func() {
		reconcile.RunInformer(ctx, s.store, s.accounts, reconcile.EventHandlerFunc(func(e reconcile.Event) {
			// Only the loss of the default account matters; other accounts are their owners' business.
			if e.Deleted && e.Key.Name == defaultAccount {
				s.queue.Add(e.Key.Namespace)
			}
		}))
	})
	s.queue.Run(ctx, s.ensure, func(namespace string, err error) {
		s.logger.Warn("a namespace has no default service account", "namespace", namespace, "error", err)
	})
}

// ensure creates the account of a namespace if it is missing, unless the namespace is being deleted.
func (s *ServiceAccounts) ensure(ctx context.Context, namespace string) error {
	key := meta.Key{GroupResource: s.accounts.Storage, Namespace: namespace, Name: defaultAccount}
	if _, err := s.store.Get(ctx, request.Get{Kind: s.accounts, Key: key}); !reconcile.IsNotFound(err) {
		return err
	}
	ns, err := s.store.Get(ctx, request.Get{Kind: s.namespaces, Key: meta.Key{GroupResource: s.namespaces.Storage, Name: namespace}})
	switch {
	case reconcile.IsNotFound(err) || err == nil && ns.Meta.Terminating:
		return nil
	case err != nil:
		return err
	}
	_, err = s.store.Mutate(ctx, request.Mutation{
		Kind: s.accounts, Key: key,
		Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": key.Name, "namespace": key.Namespace}}},
	})
	if reconcile.HasReason(err, meta.ReasonAlreadyExists) || reconcile.IsNamespaceTerminating(err) || reconcile.IsNotFound(err) {
		return nil // a concurrent request has created the account or deleted the namespace
	}
	return err
}
