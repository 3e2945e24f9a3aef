package controllers

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
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
	CollectionVersion(storage meta.GroupResource) uint64
}

// Definitions turns CustomResourceDefinitions into kinds that the catalogue and the store serve,
// writes their NamesAccepted and Established conditions, and deletes the objects of definitions that
// are being deleted. A request that has changed a definition can wait until the change is in effect
// (Wait).
type Definitions struct {
	*Env
	store       KindStore
	definitions reconcile.Client
	finalizer   string
	approvals   *custom.ApprovalPolicy

	// The informer's goroutine alone uses these.
	known  map[string]*definition                       // by name
	groups reconcile.Index[string, string, *definition] // by group and name

	cleanups sync.WaitGroup
	observed ObservedRevision
}

// definition is the last observed state of a CustomResourceDefinition.
type definition struct {
	object *meta.Object
	tree   tree.Tree // its outline
	// The uid and generation of the definition that is served now.
	uid        string
	generation int64
	draining   bool // a goroutine deletes its objects
}

// NewDefinitions returns the controller.
func NewDefinitions(store KindStore, kinds *catalog.Catalog, logger *slog.Logger) *Definitions {
	env := NewEnv(store, kinds, logger)
	return &Definitions{
		Env: env, store: store, finalizer: env.Translate(custom.CleanupFinalizer), approvals: custom.NewApprovalPolicy(env.Naming),
		definitions: env.Client("apiextensions.platform.io", "v1", "CustomResourceDefinition").As(env.Translate("platform-apiserver")),
		known:       map[string]*definition{}, groups: reconcile.Index[string, string, *definition]{},
	}
}

// Run runs the controller until the context ends.
//
// One goroutine handles all definitions, so that two of them cannot get the same name at once.
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

// report logs an error, unless what it is about has changed meanwhile and is looked at again.
func (d *Definitions) report(ctx context.Context, text string, o *meta.Object, err error) {
	if err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
		d.Log.Warn(text, "definition", o.Key.Name, "error", err)
	}
}

// Handles reports whether objects of a kind are definitions, so that writing them changes the served
// kinds.
func (d *Definitions) Handles(k *schema.Kind) bool { return k.Storage == d.definitions.Storage }

// Wait returns when the change of a definition that made the given version is in effect, or when the
// context ends.
//
// Without it a client that creates a definition and then an object of it would be told that the kind does not exist.
func (d *Definitions) Wait(ctx context.Context, version uint64) { d.observed.Wait(ctx, version) }

// CatchUp returns when all definitions that can be read are in effect, or ctx ends.
func (d *Definitions) CatchUp(ctx context.Context) {
	d.Wait(ctx, d.store.CollectionVersion(d.definitions.Storage))
}

// sync puts a definition into effect.
//
// A definition that cannot be read is left as it is; its kinds, if there are any, go on being served.
func (d *Definitions) sync(ctx context.Context, o *meta.Object) {
	outline, err := d.Kinds.Outline(o)
	if err != nil {
		d.Log.Error("a definition cannot be read", "definition", o.Key.Name, "error", err)
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
	// From here on the state is the new one, whether it is served or not.
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

// serveKinds registers the kinds of a definition whose names are accepted, and updates its status.
//
// Compiling is the expensive part, and is done only for a definition that is new, has another generation, or got
// other names. Changes of the status, its own among them, end here.
func (d *Definitions) serveKinds(ctx context.Context, known *definition) {
	v := d.calculateNames(known)
	if v.established && (known.uid != known.object.Meta.UID || known.generation != known.object.Meta.Generation || v.renamed) {
		// A copy of the top level is enough: only the status is replaced, and the outline stays as it was observed.
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

// register serves the kinds of a definition. The store learns of them first: once they are in the
// catalogue, requests for them reach the store.
func (d *Definitions) register(made *custom.Definition) {
	d.store.RegisterKind(made.Stored)
	d.Kinds.AddDefinition(made)
}

// unregister removes the kinds of a deleted definition. Definitions of the same group are checked
// again, because the names that it used are free now.
//
// The catalogue comes first, so that no new request is routed to a kind that the store has dropped.
func (d *Definitions) unregister(ctx context.Context, name string) {
	if made := d.Kinds.Definition(name); made != nil {
		d.withdraw(made)
	}
	d.removeKnown(name)
	// Names are unique within a group only, so definitions of other groups are not concerned.
	for _, other := range d.groups[groupOf(name)] {
		if !other.object.Meta.Terminating {
			d.serveKinds(ctx, other)
		}
	}
}

// withdraw stops serving the kinds of a definition, unless it has been defined anew.
// The order is that of unregister, the reverse of register.
func (d *Definitions) withdraw(made *custom.Definition) {
	d.Kinds.RemoveDefinition(made)
	d.store.UnregisterKind(made.Stored)
}

// groupOf is the group of a definition, whose name is <plural>.<group>.
func groupOf(name string) string {
	_, group, _ := strings.Cut(name, ".")
	return group
}

// addKnown and removeKnown keep known and groups the same: whatever is in one is in the other.
func (d *Definitions) addKnown(name string, known *definition) {
	d.known[name] = known
	d.groups.Put(groupOf(name), name, known)
}

// removeKnown also removes a group that has become empty.
func (d *Definitions) removeKnown(name string) {
	delete(d.known, name)
	d.groups.Delete(groupOf(name), name)
}
