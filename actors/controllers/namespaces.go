package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Store is what controllers need of the store.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	List(ctx context.Context, r request.List) (request.Listing, error)
	Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error)
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
	DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.Listing, error)
}

// Namespaces deletes everything in a namespace that is being deleted, and then takes
// the server's finalizer off, which lets it go.
type Namespaces struct {
	store      Store
	kind       *schema.Kind
	namespaced []*schema.Kind // one for each storage
	finalizer  string
	logger     *slog.Logger
}

// NewNamespaces makes the controller for the kinds of a catalogue.
func NewNamespaces(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Namespaces {
	n := &Namespaces{store: store, finalizer: kinds.Naming().NamespaceFinalizer(), logger: logger}
	seen := make(map[meta.GroupResource]bool)
	for _, k := range kinds.Kinds() {
		if k.Group == "" && k.Kind == "Namespace" {
			n.kind = k
		}
		if k.Namespaced && !seen[k.Storage] {
			seen[k.Storage] = true
			n.namespaced = append(n.namespaced, k)
		}
	}
	return n
}

// Run works until the context ends.
func (n *Namespaces) Run(ctx context.Context) {
	var wait sync.WaitGroup
	defer wait.Wait()
	for ctx.Err() == nil {
		ended := make(chan struct{})
		follow := &follower{terminating: make(chan string, 64), ended: ended, ctx: ctx}
		session, err := n.store.Watch(ctx, request.Watch{Kind: n.kind, Initial: true}, follow)
		if err != nil {
			return // the store is closing
		}
		n.serve(ctx, follow, &wait)
		session.Stop()
		<-ended
	}
}

// serve starts a worker for each namespace that begins to terminate, until the watch or
// the context ends. One namespace has one worker at a time.
func (n *Namespaces) serve(ctx context.Context, follow *follower, wait *sync.WaitGroup) {
	var mu sync.Mutex
	busy := make(map[string]bool)
	for {
		select {
		case <-ctx.Done():
			return
		case <-follow.ended:
			return
		case name := <-follow.terminating:
			mu.Lock()
			started := busy[name]
			busy[name] = true
			mu.Unlock()
			if started {
				continue
			}
			wait.Go(func() {
				n.finish(ctx, name)
				mu.Lock()
				delete(busy, name)
				mu.Unlock()
			})
		}
	}
}

// The pause between two looks at a namespace whose content waits for finalizers of
// others; it doubles from the first to the last.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 5 * time.Second
)

// finish empties one namespace and lets it go. It comes back while something in it
// waits for finalizers of others.
func (n *Namespaces) finish(ctx context.Context, name string) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, lastPause) {
		empty, err := n.empty(ctx, name)
		if err == nil && empty {
			err = n.release(ctx, name)
			if err == nil {
				return
			}
		}
		if err != nil && ctx.Err() == nil {
			n.logger.Warn("emptying a namespace", "namespace", name, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// empty deletes the content of a namespace and says whether nothing is left.
func (n *Namespaces) empty(ctx context.Context, name string) (bool, error) {
	left := false
	for _, k := range n.namespaced {
		content := request.List{Kind: k, Namespace: name}
		listing, err := n.store.DeleteCollection(ctx, content, request.Mutation{Kind: k})
		if err != nil {
			return false, err
		}
		if len(listing.Items) == 0 {
			continue
		}
		if listing, err = n.store.List(ctx, content); err != nil {
			return false, err
		}
		left = left || len(listing.Items) > 0
	}
	return !left, nil
}

// release takes the server's finalizer off a namespace.
func (n *Namespaces) release(ctx context.Context, name string) error {
	key := meta.Key{GroupResource: n.kind.Storage, Name: name}
	current, err := n.store.Get(ctx, request.Get{Kind: n.kind, Key: key})
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	tree, _, err := codec.DecodeJSON(n.kind.Message, current.JSON)
	if err != nil {
		return err
	}
	spec, _ := tree["spec"].(schema.Tree)
	finalizers, _ := spec["finalizers"].([]any)
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": current.Head.UID},
		"spec":     map[string]any{"finalizers": slices.DeleteFunc(slices.Clone(finalizers), func(f any) bool { return f == n.finalizer })},
	})
	if err != nil {
		return err
	}
	_, err = n.store.Mutate(ctx, request.Mutation{
		Verb: request.Patch, Kind: n.kind, Key: key, Subresource: "finalize", PatchType: request.MergePatch, PatchBody: patch,
	})
	if gone(err) {
		return nil
	}
	return err
}

func gone(err error) bool {
	var status *meta.Status
	return errors.As(err, &status) && status.Reason == meta.ReasonNotFound
}

// follower is the sink that picks the terminating namespaces out of a watch.
type follower struct {
	ctx         context.Context
	terminating chan string
	ended       chan struct{}
}

// Events implements request.Sink.
func (f *follower) Events(events []request.Event) error {
	for i := range events {
		o := events[i].Object
		if o == nil || events[i].Type == request.Deleted || !o.Head.Terminating {
			continue
		}
		select {
		case f.terminating <- o.Key.Name:
		case <-f.ctx.Done():
			return f.ctx.Err()
		}
	}
	return nil
}

// Done implements request.Sink.
func (f *follower) Done() { close(f.ended) }
