package controllers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Store is the part of actors.Store that controllers use: the same operations as requests.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	List(ctx context.Context, r request.List) (request.ListResult, error)
	Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error)
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
	DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error)
}

// Namespaces deletes the content of namespaces that are being deleted, and then removes the server's
// finalizer from spec.finalizers, which completes the delete.
type Namespaces struct {
	store     Store
	kinds     *catalog.Catalog
	kind      *schema.Kind
	finalizer string
	logger    *slog.Logger

	active  sync.Map       // namespaceInstances that have a worker
	workers sync.WaitGroup // Run waits for them
}

// namespaceInstance identifies a namespace by name and uid. Once it is deleted, a namespace of the
// same name may be created, whose content its worker must not delete.
type namespaceInstance struct{ name, uid string }

// NewNamespaces returns the controller for the kinds of a catalogue.
func NewNamespaces(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Namespaces {
	return &Namespaces{
		store: store, kinds: kinds, kind: coreKind(kinds, "Namespace"), finalizer: kinds.Naming().NamespaceFinalizer(), logger: logger,
	}
}

// Run runs the controller until the context ends.
func (n *Namespaces) Run(ctx context.Context) {
	defer n.workers.Wait()
	RunInformer(ctx, n.store, n.kind, &terminationHandler{ctx, n})
}

// terminationHandler starts a worker for each namespace that is being deleted. However many events
// there are for it, a namespace has one worker at a time.
type terminationHandler struct {
	ctx context.Context
	*Namespaces
}

// OnEvent implements EventHandler.
func (t *terminationHandler) OnEvent(o *meta.Object, gone bool) {
	if gone || !o.Meta.Terminating {
		return
	}
	ns := namespaceInstance{name: o.Key.Name, uid: o.Meta.UID}
	if _, started := t.active.LoadOrStore(ns, true); started {
		return
	}
	t.workers.Go(func() {
		defer t.active.Delete(ns)
		t.drain(t.ctx, ns)
	})
}

// OnSynced implements EventHandler.
func (t *terminationHandler) OnSynced() {}

// The delay between two attempts to empty a namespace in which objects have finalizers; it doubles
// from the minimum to the maximum.
const (
	minPollInterval = 20 * time.Millisecond
	maxPollInterval = 5 * time.Second
)

// drain empties a namespace, and retries while objects in it have finalizers.
func (n *Namespaces) drain(ctx context.Context, ns namespaceInstance) {
	for pause := minPollInterval; ctx.Err() == nil; pause = min(2*pause, maxPollInterval) {
		done, err := n.drainOnce(ctx, ns)
		if done {
			return
		}
		if err != nil && ctx.Err() == nil {
			n.logger.Warn("emptying a namespace", "namespace", ns.name, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// drainOnce makes one attempt to empty a namespace, and reports whether it is done. It checks first
// that the namespace still exists: after a finalize request by somebody else, its name may belong to a
// new one.
func (n *Namespaces) drainOnce(ctx context.Context, ns namespaceInstance) (bool, error) {
	if current, err := n.get(ctx, ns); current == nil {
		return err == nil, err
	}
	left := n.deleteContent(ctx, ns.name)
	if !left.isEmpty() {
		return false, errors.Join(left.err(), n.updateConditions(ctx, ns, left))
	}
	if err := n.removeFinalizer(ctx, ns); err != nil {
		return false, err
	}
	// If other finalizers keep the namespace, its conditions have to say that its content is gone.
	err := n.updateConditions(ctx, ns, left)
	return err == nil, err
}

// get returns the current state of a namespace; nil if it is deleted.
func (n *Namespaces) get(ctx context.Context, ns namespaceInstance) (*meta.Object, error) {
	current, err := n.store.Get(ctx, request.Get{Kind: n.kind, Key: n.key(ns)})
	if isNotFound(err) || err == nil && current.Meta.UID != ns.uid {
		return nil, nil
	}
	return current, err
}

func (n *Namespaces) key(ns namespaceInstance) meta.Key {
	return meta.Key{GroupResource: n.kind.Storage, Name: ns.name}
}

// deleteContent deletes the objects of all namespaced kinds in a namespace, and returns what remains.
// If one resource fails, the others are deleted nevertheless.
func (n *Namespaces) deleteContent(ctx context.Context, name string) *remainingContent {
	left := newRemainingContent()
	for _, k := range n.kinds.StorageKinds() {
		if !k.Namespaced {
			continue
		}
		content := request.List{Kind: k, Namespace: name}
		listing, err := n.store.DeleteCollection(ctx, content, request.Mutation{Kind: k})
		if err == nil && len(listing.Items) > 0 {
			listing, err = n.store.List(ctx, content)
		}
		if err != nil {
			left.failures = append(left.failures, fmt.Errorf("%s: %w", meta.GroupResource{Group: k.Group, Resource: k.Resource}, err))
			continue
		}
		left.add(k, listing.Items)
	}
	return left
}

// removeFinalizer removes the server's finalizer from spec.finalizers, through the sub-resource
// finalize.
func (n *Namespaces) removeFinalizer(ctx context.Context, ns namespaceInstance) error {
	current, err := n.get(ctx, ns)
	if current == nil {
		return err
	}
	object, err := codec.DecodeStored(n.kind.Message, current.JSON)
	if err != nil {
		return err
	}
	left := withoutItem(object.Object("spec").List("finalizers"), n.finalizer)
	return patchIfUnchanged(ctx, n.store, n.kind, current, "finalize", tree.Tree{"spec": tree.Tree{"finalizers": left}})
}
