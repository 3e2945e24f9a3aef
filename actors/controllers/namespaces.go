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

// A Store is what controllers need of the store.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	List(ctx context.Context, r request.List) (request.ListResult, error)
	Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error)
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
	DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error)
}

// Namespaces deletes everything in a namespace that is being deleted, and then takes
// the server's finalizer off, which lets it go.
type Namespaces struct {
	store     Store
	kinds     *catalog.Catalog
	kind      *schema.Kind
	finalizer string
	logger    *slog.Logger

	active  sync.Map       // the incarnations that have a worker
	workers sync.WaitGroup // their workers
}

// An incarnation is one life of a namespace. Its name may be given to another one as
// soon as it has gone, and what that one holds is none of its worker's business.
type namespaceInstance struct{ name, uid string }

// NewNamespaces makes the controller for the kinds of a catalogue.
func NewNamespaces(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Namespaces {
	return &Namespaces{
		store: store, kinds: kinds, kind: coreKind(kinds, "Namespace"), finalizer: kinds.Naming().NamespaceFinalizer(), logger: logger,
	}
}

// Run works until the context ends.
func (n *Namespaces) Run(ctx context.Context) {
	defer n.workers.Wait()
	RunInformer(ctx, n.store, n.kind, &terminationHandler{ctx, n})
}

// terminationHandler observes namespaces, and starts a worker for each that begins to terminate.
// One incarnation has one worker at a time, however often it is seen.
type terminationHandler struct {
	ctx context.Context
	*Namespaces
}

// OnEvent implements Observer.
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

// OnSynced implements Observer.
func (t *terminationHandler) OnSynced() {}

// The pause between two looks at a namespace whose content waits for finalizers of
// others; it doubles from the first to the last.
const (
	minPollInterval = 20 * time.Millisecond
	maxPollInterval = 5 * time.Second
)

// drain empties one namespace and lets it go. It comes back while something in it
// waits for finalizers of others.
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

// drainOnce goes through a namespace once and says whether nothing is left to do. Somebody
// else may have let it go since the last time, so it looks before it deletes.
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
	// Where it stays, for finalizers of others, it is told that its content does not hold it.
	err := n.updateConditions(ctx, ns, left)
	return err == nil, err
}

// get is the namespace as it is now; nil if this incarnation has gone.
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

// deleteContent deletes the content of a namespace, and tells what is left. A resource that cannot be emptied
// keeps no other from it.
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

// removeFinalizer takes the server's finalizer off a namespace.
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
