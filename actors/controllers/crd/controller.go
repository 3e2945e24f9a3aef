package crd

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Store is a store whose kinds can change while it is open.
type Store interface {
	reconcile.Store
	RegisterKind(k *schema.Kind)
	UnregisterKind(k *schema.Kind)
	CollectionVersion(storage meta.GroupResource) uint64
}

// Controller registers custom resources with the catalog and the store. It writes the NamesAccepted
// and Established conditions of CRDs, and deletes the objects of terminating CRDs. A request that
// changed a CRD uses Wait to block until the change is in effect.
type Controller struct {
	*reconcile.Env
	store       Store
	definitions reconcile.Client
	finalizer   string
	approvals   *crd.ApprovalPolicy

	// Only the informer's goroutine uses known, groups and names.
	known  map[string]*definition                       // by name
	groups reconcile.Index[string, string, *definition] // by group and name
	names  map[string]map[nameKey]int                   // number of CRDs that use a name, by group

	cleanups sync.WaitGroup
	observed reconcile.ObservedRevision
}

// definition is the last observed state of a CustomResourceDefinition.
type definition struct {
	object *meta.Object
	tree   tree.Tree // its outline
	// uid and generation identify the version of the CRD that is served.
	uid        string
	generation int64
	draining   bool // a goroutine is deleting its objects
}

// New returns a new Controller. Call Run to start it.
func New(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Controller {
	env := reconcile.NewEnv(store, kinds, logger)
	return &Controller{
		Env: env, store: store, finalizer: env.Translate(crd.CleanupFinalizer), approvals: crd.NewApprovalPolicy(env.Naming),
		definitions: env.Client("apiextensions.platform.io", "v1", "CustomResourceDefinition").As(env.Translate("platform-apiserver")),
		known:       map[string]*definition{}, groups: reconcile.Index[string, string, *definition]{},
		names: map[string]map[nameKey]int{},
	}
}

// Run runs the controller until ctx is done. One goroutine handles all CRDs, so that two CRDs
// cannot be granted the same name.
func (c *Controller) Run(ctx context.Context) {
	defer c.cleanups.Wait()
	f := reconcile.Informer{Client: c.definitions, Version: c.observed.Advance, On: func(e reconcile.Event) {
		if e.Deleted {
			c.unregister(ctx, e.Key.Name)
		} else {
			c.sync(ctx, e.Object)
		}
		c.observed.Advance(e.Version)
	}}
	f.Run(ctx)
}

func (c *Controller) report(ctx context.Context, text string, o *meta.Object, err error) {
	if err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
		c.Log.Warn(text, "definition", o.Key.Name, "error", err)
	}
}

// Handles reports whether k is the kind CustomResourceDefinition.
func (c *Controller) Handles(k *schema.Kind) bool { return k.Storage == c.definitions.Storage }

// Wait blocks until the CRD change at the given version is in effect, or until ctx is done.
// Otherwise, a client that creates a CRD and then a custom resource could get a 404.
func (c *Controller) Wait(ctx context.Context, version uint64) { c.observed.Wait(ctx, version) }

// CatchUp blocks until all stored CRDs are in effect, or until ctx is done.
func (c *Controller) CatchUp(ctx context.Context) {
	c.Wait(ctx, c.store.CollectionVersion(c.definitions.Storage))
}

// sync puts a CRD into effect. If the CRD is unreadable, its previous kinds remain served.
func (c *Controller) sync(ctx context.Context, o *meta.Object) {
	outline, err := c.Kinds.Outline(o)
	if err != nil {
		c.Log.Error("cannot decode a CustomResourceDefinition", "definition", o.Key.Name, "error", err)
		return
	}
	known := c.known[o.Key.Name]
	if known == nil {
		known = &definition{}
		if c.Kinds.Definition(o.Key.Name) != nil { // recovery has registered it before Run
			known.uid, known.generation = o.Meta.UID, o.Meta.Generation
		}
		c.addKnown(o.Key.Name, known)
	}
	// Record the new CRD before serving it. known must describe it even if its kinds cannot be
	// served.
	c.countNames(known, -1)
	known.object, known.tree = o, outline
	c.countNames(known, 1)
	if made := c.Kinds.Definition(o.Key.Name); made != nil && known.uid == o.Meta.UID && known.generation == o.Meta.Generation {
		made.ShareText(outline)
	}
	if o.Meta.Terminating {
		c.terminate(ctx, known)
		return
	}
	c.serveKinds(ctx, known)
}

// serveKinds registers the kinds of a CRD whose names are accepted, and updates its status. It
// compiles the CRD only if its uid, generation or accepted names have changed, because compiling is
// expensive. Status updates therefore cause no compilation.
func (c *Controller) serveKinds(ctx context.Context, known *definition) {
	v := c.calculateNames(known)
	if v.established && (known.uid != known.object.Meta.UID || known.generation != known.object.Meta.Generation || v.renamed) {
		// A shallow copy is enough, because only the status is replaced and known.tree is not
		// modified.
		root := maps.Clone(known.tree)
		root["status"] = tree.Tree{"acceptedNames": v.names}
		if made := c.Kinds.Compile(root); made != nil {
			c.register(made)
			known.uid, known.generation = known.object.Meta.UID, known.object.Meta.Generation
		}
	}
	if v.changed {
		c.updateStatus(ctx, known, v)
	}
}

// register adds the kinds of a CRD to the store and then to the catalog. It updates the store
// first, because the catalog routes requests to the store.
func (c *Controller) register(made *crd.Definition) {
	c.store.RegisterKind(made.Stored)
	c.Kinds.AddDefinition(made)
}

// unregister removes the kinds of a deleted CRD. It starts with the catalog, so that no new request
// reaches a kind that the store has dropped. It then rechecks the other CRDs of the group, because
// the removed CRD's names are now free.
func (c *Controller) unregister(ctx context.Context, name string) {
	if made := c.Kinds.Definition(name); made != nil {
		c.withdraw(made)
	}
	c.removeKnown(name)
	for _, other := range c.groups[groupOf(name)] {
		if !other.object.Meta.Terminating {
			c.serveKinds(ctx, other)
		}
	}
}

func (c *Controller) withdraw(made *crd.Definition) {
	c.Kinds.RemoveDefinition(made)
	c.store.UnregisterKind(made.Stored)
}

func groupOf(name string) string {
	_, group, _ := strings.Cut(name, ".")
	return group
}

func (c *Controller) addKnown(name string, known *definition) {
	c.known[name] = known
	c.groups.Put(groupOf(name), name, known)
}

func (c *Controller) removeKnown(name string) {
	if known := c.known[name]; known != nil {
		c.countNames(known, -1)
	}
	delete(c.known, name)
	c.groups.Delete(groupOf(name), name)
}
