package controllers

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

// KindStore is a Store whose kinds can change while it is open.
type KindStore interface {
	Store
	RegisterKind(k *schema.Kind)
	UnregisterKind(k *schema.Kind)
	CollectionVersion(storage meta.GroupResource) uint64
}

// Definitions registers custom resources with the catalog and the store. It writes the
// NamesAccepted and Established conditions of CRDs, and deletes the objects of terminating CRDs.
// Wait lets a request that changed a CRD wait until the change is in effect.
type Definitions struct {
	*Env
	store       KindStore
	definitions reconcile.Client
	finalizer   string
	approvals   *crd.ApprovalPolicy

	// Only the informer's goroutine uses known and groups.
	known  map[string]*definition                       // by name
	groups reconcile.Index[string, string, *definition] // by group and name

	cleanups sync.WaitGroup
	observed ObservedRevision
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

// NewDefinitions returns a new Definitions. Call Run to start it.
func NewDefinitions(store KindStore, kinds *catalog.Catalog, logger *slog.Logger) *Definitions {
	env := NewEnv(store, kinds, logger)
	return &Definitions{
		Env: env, store: store, finalizer: env.Translate(crd.CleanupFinalizer), approvals: crd.NewApprovalPolicy(env.Naming),
		definitions: env.Client("apiextensions.platform.io", "v1", "CustomResourceDefinition").As(env.Translate("platform-apiserver")),
		known:       map[string]*definition{}, groups: reconcile.Index[string, string, *definition]{},
	}
}

// Run runs the controller until ctx ends. One goroutine handles all CRDs, so that two CRDs cannot
// be granted the same name.
func (d *Definitions) Run(ctx context.Context) {
	defer d.cleanups.Wait()
	f := reconcile.Informer{Client: d.definitions, Version: d.observed.Advance, On: func(e reconcile.Event) {
		if e.Deleted {
			d.unregister(ctx, e.Key.Name)
		} else {
			d.sync(ctx, e.Object)
		}
		d.observed.Advance(e.Version)
	}}
	f.Run(ctx)
}

func (d *Definitions) report(ctx context.Context, text string, o *meta.Object, err error) {
	if err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
		d.Log.Warn(text, "definition", o.Key.Name, "error", err)
	}
}

// Handles reports whether k is the kind CustomResourceDefinition.
func (d *Definitions) Handles(k *schema.Kind) bool { return k.Storage == d.definitions.Storage }

// Wait returns when the CRD change at the given version is in effect, or when ctx ends. Otherwise,
// a client that creates a CRD and then a custom resource could get a 404.
func (d *Definitions) Wait(ctx context.Context, version uint64) { d.observed.Wait(ctx, version) }

// CatchUp returns when all stored CRDs are in effect, or when ctx ends.
func (d *Definitions) CatchUp(ctx context.Context) {
	d.Wait(ctx, d.store.CollectionVersion(d.definitions.Storage))
}

// sync puts a CRD into effect. If the CRD is unreadable, its previous kinds stay served.
func (d *Definitions) sync(ctx context.Context, o *meta.Object) {
	outline, err := d.Kinds.Outline(o)
	if err != nil {
		d.Log.Error("cannot decode a CustomResourceDefinition", "definition", o.Key.Name, "error", err)
		return
	}
	known := d.known[o.Key.Name]
	if known == nil {
		known = &definition{}
		if d.Kinds.Definition(o.Key.Name) != nil { // recovery has registered it before Run
			known.uid, known.generation = o.Meta.UID, o.Meta.Generation
		}
		d.addKnown(o.Key.Name, known)
	}
	// Record the new CRD before serving it. known must describe it even if its kinds cannot be
	// served.
	known.object, known.tree = o, outline
	if made := d.Kinds.Definition(o.Key.Name); made != nil && known.uid == o.Meta.UID && known.generation == o.Meta.Generation {
		made.ShareText(outline)
	}
	if o.Meta.Terminating {
		d.terminate(ctx, known)
		return
	}
	d.serveKinds(ctx, known)
}

// serveKinds registers the kinds of a CRD whose names are accepted, and updates its status. It
// compiles the CRD only if its uid, generation or accepted names have changed, because compiling is
// expensive. Status updates, including those of this controller, therefore cause no compilation.
func (d *Definitions) serveKinds(ctx context.Context, known *definition) {
	v := d.calculateNames(known)
	if v.established && (known.uid != known.object.Meta.UID || known.generation != known.object.Meta.Generation || v.renamed) {
		// A shallow copy suffices, because only the status is replaced and known.tree is not
		// modified.
		root := maps.Clone(known.tree)
		root["status"] = tree.Tree{"acceptedNames": v.names}
		if made := d.Kinds.Compile(root); made != nil {
			d.register(made)
			known.uid, known.generation = known.object.Meta.UID, known.object.Meta.Generation
		}
	}
	if v.changed {
		d.updateStatus(ctx, known, v)
	}
}

// register adds the kinds of a CRD to the store and then to the catalog. The store comes first,
// because the catalog routes requests to it.
func (d *Definitions) register(made *crd.Definition) {
	d.store.RegisterKind(made.Stored)
	d.Kinds.AddDefinition(made)
}

// unregister removes the kinds of a deleted CRD. It removes them from the catalog first, so that no
// new request reaches a kind that the store has dropped. It then rechecks the CRDs of the group,
// because names have become free.
func (d *Definitions) unregister(ctx context.Context, name string) {
	if made := d.Kinds.Definition(name); made != nil {
		d.withdraw(made)
	}
	d.removeKnown(name)
	for _, other := range d.groups[groupOf(name)] {
		if !other.object.Meta.Terminating {
			d.serveKinds(ctx, other)
		}
	}
}

// withdraw reverses register, unless another CRD of that name has been registered since.
func (d *Definitions) withdraw(made *crd.Definition) {
	d.Kinds.RemoveDefinition(made)
	d.store.UnregisterKind(made.Stored)
}

func groupOf(name string) string {
	_, group, _ := strings.Cut(name, ".")
	return group
}

func (d *Definitions) addKnown(name string, known *definition) {
	d.known[name] = known
	d.groups.Put(groupOf(name), name, known)
}

func (d *Definitions) removeKnown(name string) {
	delete(d.known, name)
	d.groups.Delete(groupOf(name), name)
}
