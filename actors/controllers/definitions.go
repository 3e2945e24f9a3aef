package controllers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// KindStore is a Store whose kinds can change while it is open.
type KindStore interface {
	Store
	RegisterKind(k *schema.Kind)
	UnregisterKind(k *schema.Kind)
}

// Definitions turns CustomResourceDefinitions into kinds that the catalogue and the store serve,
// writes their NamesAccepted and Established conditions, and deletes the objects of definitions that
// are being deleted. A request that has changed a definition can wait until the change is in effect
// (Wait).
type Definitions struct {
	store     KindStore
	kinds     *catalog.Catalog
	kind      *schema.Kind
	manager   string // field manager of the status
	finalizer string
	logger    *slog.Logger

	// The fields below belong to the goroutine of Run.
	known    map[string]*definition
	cleanups sync.WaitGroup

	observed ObservedRevision
}

// definition is the last observed state of a CustomResourceDefinition.
type definition struct {
	object *meta.Object
	tree   tree.Tree
	// The uid and generation of the definition that is served now.
	uid        string
	generation int64
	draining   bool // a goroutine deletes its objects
}

// NewDefinitions returns the controller for the kinds of a catalogue.
func NewDefinitions(store KindStore, kinds *catalog.Catalog, logger *slog.Logger) *Definitions {
	n := kinds.Naming()
	return &Definitions{
		store: store, kinds: kinds, logger: logger,
		kind: kinds.ByGVK(meta.GroupVersionKind{
			Group: n.Group("apiextensions"), Version: "v1", Kind: "CustomResourceDefinition",
		}),
		manager: n.Translate("platform-apiserver"), finalizer: n.Translate(custom.CleanupFinalizer),
		known: map[string]*definition{},
	}
}

// Run runs the controller until the context ends.
func (d *Definitions) Run(ctx context.Context) {
	defer d.cleanups.Wait()
	RunInformer(ctx, d.store, d.kind, eventHandlerFunc(func(o *meta.Object, gone bool) {
		if gone {
			d.unregister(ctx, o.Key.Name)
		} else {
			d.sync(ctx, o)
		}
		d.observed.Advance(o.Version)
	}))
}

// Handles reports whether objects of a kind are definitions, so that writing them changes the served
// kinds.
func (d *Definitions) Handles(k *schema.Kind) bool { return k.Storage == d.kind.Storage }

// Wait returns when the change of a definition that made the given version is in effect, or when the
// context ends.
func (d *Definitions) Wait(ctx context.Context, version uint64) { d.observed.Wait(ctx, version) }

// sync puts a definition into effect.
func (d *Definitions) sync(ctx context.Context, o *meta.Object) {
	tree, err := codec.DecodeStored(d.kind.Message, o.JSON)
	if err != nil {
		d.logger.Error("a definition cannot be read", "definition", o.Key.Name, "error", err)
		return
	}
	known := d.known[o.Key.Name]
	if known == nil {
		known = &definition{}
		if d.kinds.Definition(o.Key.Name) != nil { // recovery has registered it before Run
			known.uid, known.generation = o.Meta.UID, o.Meta.Generation
		}
		d.known[o.Key.Name] = known
	}
	known.object, known.tree = o, tree
	if o.Meta.Terminating {
		d.terminate(ctx, known)
		return
	}
	d.serveKinds(ctx, known)
}

// serveKinds registers the kinds of a definition whose names are accepted, and updates its status.
func (d *Definitions) serveKinds(ctx context.Context, known *definition) {
	v := d.calculateNames(known)
	if v.established && (known.uid != known.object.Meta.UID || known.generation != known.object.Meta.Generation || v.renamed) {
		root := tree.Clone(known.tree).(tree.Tree)
		root.EnsureObject("status")["acceptedNames"] = v.names
		if made := d.kinds.Compile(root); made != nil {
			d.register(made)
			known.uid, known.generation = known.object.Meta.UID, known.object.Meta.Generation
		}
	}
	if v.changed {
		d.updateStatus(ctx, known, v)
	}
}

// register serves the kinds of a definition. The store learns of them first: once they are in the
// catalogue, requests for them reach the store.
func (d *Definitions) register(made *custom.Definition) {
	d.store.RegisterKind(made.Stored)
	d.kinds.AddDefinition(made)
}

// unregister removes the kinds of a deleted definition. Definitions of the same group are checked
// again, because the names that it used are free now.
func (d *Definitions) unregister(ctx context.Context, name string) {
	if made := d.kinds.Definition(name); made != nil {
		d.kinds.RemoveDefinition(name)
		d.store.UnregisterKind(made.Stored)
	}
	gone := d.known[name]
	delete(d.known, name)
	if gone == nil {
		return
	}
	group := gone.tree.Object("spec").String("group")
	for _, other := range d.known {
		if other.tree.Object("spec").String("group") == group && !other.object.Meta.Terminating {
			d.serveKinds(ctx, other)
		}
	}
}

// timestamp is the current time in the format of metav1.Time.
func timestamp() string { return time.Now().UTC().Format(time.RFC3339) }
