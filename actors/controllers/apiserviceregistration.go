package controllers

import (
	"context"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// APIServiceRegistration keeps an APIService for each version of a group that this server itself serves, so that
// all that is served can be listed in one place, with its priority in discovery.
//
// A label says how an object is kept. Those of built-in groups are created and corrected once after each start, so
// that an administrator may change them for as long as the server runs; those of definitions always. An object
// without the label is somebody's own, and is left alone.
type APIServiceRegistration struct {
	store      Store
	kinds      *catalog.Catalog
	kind       *schema.Kind
	priorities *present.Priorities
	manager    string // field manager
	label      string
	logger     *slog.Logger

	queue *reconcile.Workqueue[string] // names
	ready chan struct{}                // closed when what is served at the start has been processed

	mu      sync.Mutex              // guards the rest
	known   map[string]*meta.Object // the APIServices that there are
	atStart map[string]bool         // those that there were before the first sync
	synced  map[string]bool         // that have been processed once
	pending map[string]bool         // of those that are served at the start, what has not been processed; nil when ready is closed
}

// The values of the label.
const (
	managedOnStart = "onstart"
	managedAlways  = "true"
)

// NewAPIServiceRegistration returns the controller for the kinds of a catalogue.
func NewAPIServiceRegistration(store Store, kinds *catalog.Catalog, logger *slog.Logger) *APIServiceRegistration {
	n := kinds.Naming()
	return &APIServiceRegistration{
		store: store, kinds: kinds, kind: apiServiceKind(kinds), priorities: present.NewPriorities(n),
		manager: n.Translate("platform-apiserver"), label: n.Translate("platform-aggregator.platform.io/automanaged"), logger: logger,
		queue: reconcile.NewWorkqueue[string]().Named("APIServiceRegistrationController"), ready: make(chan struct{}),
		known: map[string]*meta.Object{}, atStart: map[string]bool{}, synced: map[string]bool{}, pending: map[string]bool{},
	}
}

// apiServiceKind is the kind of APIServices.
func apiServiceKind(kinds *catalog.Catalog) *schema.Kind {
	return kinds.ByGVK(meta.GroupVersionKind{Group: kinds.Naming().Group("apiregistration"), Version: "v1", Kind: "APIService"})
}

// Run runs the controller until the context ends.
func (r *APIServiceRegistration) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	complete := make(chan struct{})
	running.Go(func() { reconcile.RunInformer(ctx, r.store, r.kind, &registrationHandler{r, complete}) })
	select {
	case <-complete: // an object that is not known yet would be taken for one that is missing
	case <-ctx.Done():
		return
	}
	running.Go(func() { r.followCatalog(ctx) })
	r.queue.Run(ctx, r.sync, func(name string, err error) {
		r.logger.Warn("keeping an APIService", "apiservice", name, "error", err)
	})
}

// Ready returns a channel that is closed when there is an APIService for all that was served at the start, as far as
// it could be written.
func (r *APIServiceRegistration) Ready() <-chan struct{} { return r.ready }

// A registrationHandler takes in the APIServices that there are.
type registrationHandler struct {
	*APIServiceRegistration
	complete chan struct{} // closed when all have been seen
}

// OnEvent implements EventHandler.
func (h *registrationHandler) OnEvent(e reconcile.Event) {
	h.mu.Lock()
	if e.Deleted {
		delete(h.known, e.Key.Name)
	} else {
		h.known[e.Key.Name] = e.Object
	}
	h.mu.Unlock()
	h.queue.Add(e.Key.Name)
}

// OnSynced implements EventHandler.
func (h *registrationHandler) OnSynced() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range h.known {
		h.atStart[name] = true
	}
	for _, k := range h.kinds.Kinds() {
		h.pending[k.Version+"."+k.Group] = true
	}
	close(h.complete)
}

// followCatalog processes what is served anew, and what is not any more, after each change of the catalogue.
func (r *APIServiceRegistration) followCatalog(ctx context.Context) {
	before := map[string]bool{}
	for {
		changed := r.kinds.Changed()
		now := map[string]bool{}
		for _, k := range r.kinds.Kinds() {
			name := k.Version + "." + k.Group
			if !now[name] && !before[name] {
				r.queue.Add(name)
			}
			now[name] = true
		}
		for name := range before {
			if !now[name] {
				r.queue.Add(name)
			}
		}
		before = now
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// desired is the spec of the APIService of a name; nil if there is to be none.
//
// The group of APIServices themselves has none: it is served whatever objects say.
func (r *APIServiceRegistration) desired(name string) tree.Tree {
	version, group, _ := strings.Cut(name, ".")
	served := slices.ContainsFunc(r.kinds.Kinds(), func(k *schema.Kind) bool {
		return k.Group == group && k.Version == version && k.Resource != ""
	})
	if !served || group == r.kind.Group {
		return nil
	}
	priority := r.priorities.Of(group, version)
	spec := tree.Tree{"version": version, "groupPriorityMinimum": priority.Group, "versionPriority": priority.Version}
	if group != "" {
		spec["group"] = group
	}
	return spec
}

// management is the value of the label for a group.
func (r *APIServiceRegistration) management(group string) string {
	if r.kinds.IsBuiltInGroup(group) {
		return managedOnStart
	}
	return managedAlways
}

// sync brings one APIService to what it is to be.
func (r *APIServiceRegistration) sync(ctx context.Context, name string) error {
	r.mu.Lock()
	o, syncedBefore, wasAtStart := r.known[name], r.synced[name], r.atStart[name]
	r.mu.Unlock()
	err := r.keep(ctx, name, o, syncedBefore, wasAtStart)
	if reconcile.IsNotFound(err) || reconcile.IsConflict(err) || reconcile.HasReason(err, meta.ReasonAlreadyExists) {
		err = nil // it has changed meanwhile, and will be told of again
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced[name] = r.synced[name] || err == nil
	if delete(r.pending, name); r.pending != nil && len(r.pending) == 0 {
		r.pending = nil
		close(r.ready)
	}
	return err
}

// keep makes one APIService what it should be. want is the spec that it should have, nil if it should not be there; o is
// the object, nil if it is not there. What is managed on start is left to administrators once it has been synced, and an
// object that does not carry our label is never touched.
func (r *APIServiceRegistration) keep(ctx context.Context, name string, o *meta.Object, syncedBefore, wasAtStart bool) error {
	want := r.desired(name)
	management := r.management(want.String("group"))
	switch {
	case want == nil && o == nil, want != nil && management == managedOnStart && syncedBefore:
		return nil
	case o == nil:
		return r.create(ctx, name, want, management)
	}
	current, _ := o.Meta.Labels.Get(r.label)
	switch {
	case current != managedOnStart && current != managedAlways:
		return nil
	case current == managedOnStart && (!wasAtStart || syncedBefore):
		return nil
	case want == nil:
		return reconcile.DeleteIfUnchanged(ctx, r.store, r.kind, o, "")
	}
	return r.correct(ctx, o, want)
}

// create makes the object with the label that says how it is kept from now on.
func (r *APIServiceRegistration) create(ctx context.Context, name string, spec tree.Tree, management string) error {
	_, err := r.store.Mutate(ctx, request.Mutation{
		Kind: r.kind, Key: meta.Key{GroupResource: r.kind.Storage, Name: name}, FieldManager: r.manager,
		Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": name, "labels": tree.Tree{r.label: management}}, "spec": spec}},
	})
	return err
}

// correct gives an APIService the spec that it is to have, and nothing beside it.
func (r *APIServiceRegistration) correct(ctx context.Context, o *meta.Object, want tree.Tree) error {
	object, err := codec.DecodeStored(r.kind.Message(), o.JSON)
	if err != nil {
		return err
	}
	spec := object.Object("spec")
	patch := tree.Tree{}
	for field := range spec {
		patch[field] = nil
	}
	maps.Copy(patch, want)
	for field, value := range patch {
		if reflect.DeepEqual(spec[field], value) {
			delete(patch, field)
		}
	}
	if len(patch) == 0 {
		return nil
	}
	return reconcile.PatchAs(ctx, r.store, r.manager, r.kind, o, "", tree.Tree{"spec": patch})
}
