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

// SystemObjects creates the namespaces and the priority classes of the system again when they are deleted, and when they
// could not be created at the start.
type SystemObjects struct {
	store   Store
	objects []systemObject
	queue   *reconcile.Workqueue[int] // positions in objects
	logger  *slog.Logger
}

// A systemObject is what there must be.
type systemObject struct {
	kind *schema.Kind
	name string
	body tree.Tree // without metadata
}

// NewSystemObjects returns the controller for the kinds of a catalogue.
func NewSystemObjects(store Store, kinds *catalog.Catalog, logger *slog.Logger) *SystemObjects {
	s := &SystemObjects{store: store, queue: reconcile.NewWorkqueue[int](), logger: logger}
	for _, name := range kinds.Naming().SystemNamespaces() {
		s.objects = append(s.objects, systemObject{kind: reconcile.CoreKind(kinds, "Namespace"), name: name})
	}
	if k := priorityClassKind(kinds); k != nil {
		for _, class := range systemPriorityClasses {
			s.objects = append(s.objects, systemObject{k, class.name, class.body()})
		}
	}
	return s
}

// Run runs the controller until the context ends. Each object has a watch of its own, which costs less than one of all
// namespaces.
func (s *SystemObjects) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for i, o := range s.objects {
		running.Go(func() {
			reconcile.RunNamedInformer(ctx, s.store, o.kind, o.name, &systemObjectHandler{queue: s.queue, object: i})
		})
	}
	s.queue.Run(ctx, func(ctx context.Context, i int) error { return s.objects[i].create(ctx, s.store) }, func(i int, err error) {
		s.logger.Warn("an object of the system is missing", "kind", s.objects[i].kind.Kind, "name", s.objects[i].name, "error", err)
	})
}

// A systemObjectHandler enqueues one object when it has gone, and if it was not there from the beginning.
type systemObjectHandler struct {
	queue  *reconcile.Workqueue[int]
	object int
	seen   bool
}

// OnEvent implements reconcile.EventHandler.
func (h *systemObjectHandler) OnEvent(e reconcile.Event) {
	if h.seen = !e.Deleted; e.Deleted {
		h.queue.Add(h.object)
	}
}

// OnSynced implements reconcile.EventHandler.
func (h *systemObjectHandler) OnSynced() {
	if !h.seen {
		h.queue.Add(h.object)
	}
}

// create creates an object, unless there is one.
func (o systemObject) create(ctx context.Context, store Store) error {
	object := tree.Tree{"metadata": tree.Tree{"name": o.name}}
	for field := range o.body {
		// Field by field, so that metadata is not put into the body, which later attempts use, too.
		object.CopyField(o.body, field)
	}
	_, err := store.Mutate(ctx, request.Mutation{
		Kind: o.kind, Key: meta.Key{GroupResource: o.kind.Storage, Name: o.name}, Change: request.Create{Object: object},
	})
	if reconcile.HasReason(err, meta.ReasonAlreadyExists) {
		return nil
	}
	return err
}
