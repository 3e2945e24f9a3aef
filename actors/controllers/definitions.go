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

// A KindStore is a Store that takes in kinds while it is open.
type KindStore interface {
	Store
	RegisterKind(k *schema.Kind)
	UnregisterKind(k *schema.Kind)
}

// Definitions makes kinds of the objects that define them, and serves them; says in their status
// that it does; and empties and ends what is being deleted. Who has changed a definition can wait
// for what comes of it (Await).
type Definitions struct {
	store     KindStore
	kinds     *catalog.Catalog
	kind      *schema.Kind
	manager   string // of the status
	finalizer string
	logger    *slog.Logger

	// Only the goroutine of Run touches what follows.
	known    map[string]*definition
	cleanups sync.WaitGroup

	observed ObservedRevision
}

// A definition is what is known of one.
type definition struct {
	object *meta.Object
	tree   tree.Tree
	// What is served is of this life and this generation.
	uid        string
	generation int64
	draining   bool // somebody empties it
}

// NewDefinitions makes the controller for the kinds of a catalogue.
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

// Run works until the context ends.
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

// Handles tells whether a change of objects of a kind is a change of kinds.
func (d *Definitions) Handles(k *schema.Kind) bool { return k.Storage == d.kind.Storage }

// Wait returns when a change of a definition, of which the version is given, is in effect; or
// when the context ends.
func (d *Definitions) Wait(ctx context.Context, version uint64) { d.observed.Wait(ctx, version) }

// sync puts the state of a definition into effect.
func (d *Definitions) sync(ctx context.Context, o *meta.Object) {
	tree, err := codec.DecodeStored(d.kind.Message, o.JSON)
	if err != nil {
		d.logger.Error("a definition cannot be read", "definition", o.Key.Name, "error", err)
		return
	}
	known := d.known[o.Key.Name]
	if known == nil {
		known = &definition{}
		if d.kinds.Definition(o.Key.Name) != nil { // it was recovered
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

// serveKinds serves the kinds of a definition as far as its names are its own, and says so.
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

// register serves what a definition has made: the store knows the kind before anybody can ask for it.
func (d *Definitions) register(made *custom.Definition) {
	d.store.RegisterKind(made.Stored)
	d.kinds.AddDefinition(made)
}

// unregister ends the kinds of a definition that has gone. Its names are free for others.
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

// timestamp is the time as trees hold it.
func timestamp() string { return time.Now().UTC().Format(time.RFC3339) }
