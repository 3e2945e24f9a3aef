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
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A KindStore is a Store that takes in kinds while it is open.
type KindStore interface {
	Store
	Adopt(k *schema.Kind)
	Abandon(k *schema.Kind)
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
	cleaning sync.WaitGroup

	seen Progress
}

// A definition is what is known of one.
type definition struct {
	object *meta.Object
	tree   schema.Tree
	// What is served is of this life and this generation.
	uid        string
	generation int64
	busy       bool // somebody empties it
}

// NewDefinitions makes the controller for the kinds of a catalogue.
func NewDefinitions(store KindStore, kinds *catalog.Catalog, logger *slog.Logger) *Definitions {
	n := kinds.Naming()
	return &Definitions{
		store: store, kinds: kinds, logger: logger,
		kind: kinds.ByGVK(meta.GroupVersionKind{
			Group: n.Group("apiextensions"), Version: "v1", Kind: "CustomResourceDefinition",
		}),
		manager: n.Name("platform-apiserver"), finalizer: n.Name(catalog.CleanupFinalizer),
		known: map[string]*definition{},
	}
}

// Run works until the context ends.
func (d *Definitions) Run(ctx context.Context) {
	defer d.cleaning.Wait()
	Follow(ctx, d.store, d.kind, observer(func(o *meta.Object, gone bool) {
		if gone {
			d.forget(ctx, o.Key.Name)
		} else {
			d.attend(ctx, o)
		}
		d.seen.Reach(o.Version)
	}))
}

// Concerns tells whether a change of objects of a kind is a change of kinds.
func (d *Definitions) Concerns(k *schema.Kind) bool { return k.Storage == d.kind.Storage }

// Await returns when a change of a definition, of which the version is given, is in effect; or
// when the context ends.
func (d *Definitions) Await(ctx context.Context, version uint64) { d.seen.Await(ctx, version) }

// attend puts the state of a definition into effect.
func (d *Definitions) attend(ctx context.Context, o *meta.Object) {
	tree, err := codec.DecodeStored(d.kind.Message, o.JSON)
	if err != nil {
		d.logger.Error("a definition cannot be read", "definition", o.Key.Name, "error", err)
		return
	}
	known := d.known[o.Key.Name]
	if known == nil {
		known = &definition{}
		if d.kinds.Defined(o.Key.Name) != nil { // it was recovered
			known.uid, known.generation = o.Head.UID, o.Head.Generation
		}
		d.known[o.Key.Name] = known
	}
	known.object, known.tree = o, tree
	if o.Head.Terminating {
		d.end(ctx, known)
		return
	}
	d.serve(ctx, known)
}

// serve serves the kinds of a definition as far as its names are its own, and says so.
func (d *Definitions) serve(ctx context.Context, known *definition) {
	v := d.judge(known)
	if v.established && (known.uid != known.object.Head.UID || known.generation != known.object.Head.Generation || v.renamed) {
		tree := rules.Clone(known.tree).(schema.Tree)
		rules.Grow(tree, "status")["acceptedNames"] = v.names
		if made := d.kinds.Compile(tree); made != nil {
			d.put(made)
			known.uid, known.generation = known.object.Head.UID, known.object.Head.Generation
		}
	}
	if v.news {
		d.report(ctx, known, v)
	}
}

// put serves what a definition has made: the store knows the kind before anybody can ask for it.
func (d *Definitions) put(made *custom.Definition) {
	d.store.Adopt(made.Stored)
	d.kinds.Define(made)
}

// forget ends the kinds of a definition that has gone. Its names are free for others.
func (d *Definitions) forget(ctx context.Context, name string) {
	if made := d.kinds.Defined(name); made != nil {
		d.kinds.Undefine(name)
		d.store.Abandon(made.Stored)
	}
	gone := d.known[name]
	delete(d.known, name)
	if gone == nil {
		return
	}
	group := rules.Text(rules.Sub(gone.tree, "spec"), "group")
	for _, other := range d.known {
		if rules.Text(rules.Sub(other.tree, "spec"), "group") == group && !other.object.Head.Terminating {
			d.serve(ctx, other)
		}
	}
}

// now is the time as trees hold it.
func now() string { return time.Now().UTC().Format(time.RFC3339) }
