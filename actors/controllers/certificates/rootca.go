package certificates

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// rootCAKey is the key of the certificates in the ConfigMap.
const rootCAKey = "ca.crt"

// RootCAPublisher keeps a ConfigMap with the certificates by which to recognise the server in every namespace that is
// not being deleted. Pods mount it beside their tokens. Two things make work for it: a namespace that comes, and any
// change of a ConfigMap of that name.
type RootCAPublisher struct {
	store            Store
	namespaces, maps *schema.Kind
	name             string // of the ConfigMap
	annotation, text string // that says what it is for
	roots            func() []byte
	logger           *slog.Logger

	queue *reconcile.Workqueue[string] // names of namespaces
	mu    sync.Mutex                   // guards live
	live  map[string]bool              // the namespaces that are to have one
}

// NewRootCAPublisher returns the controller. roots is the PEM text of the certificates as they are now; Publish is to
// be called when it changes.
func NewRootCAPublisher(store Store, kinds *catalog.Catalog, roots func() []byte, logger *slog.Logger) *RootCAPublisher {
	n := kinds.Naming()
	return &RootCAPublisher{
		store: store, logger: logger, roots: roots, queue: reconcile.NewWorkqueue[string]().Named("root_ca_cert_publisher"), live: map[string]bool{},
		namespaces: reconcile.CoreKind(kinds, "Namespace"), maps: reconcile.CoreKind(kinds, "ConfigMap"),
		name: n.Translate("platform-root-ca.crt"), annotation: n.Translate("platform.io/description"),
		text: fmt.Sprintf("Contains a CA bundle that can be used to verify the %s when using internal endpoints such as the internal service IP or %s.default.svc. "+
			"No other usage is guaranteed across distributions of %s clusters.", n.Translate("platform-apiserver"), n.Translate("platform"), n.Product()),
	}
}

// Publish brings all ConfigMaps up to date. It only queues the namespaces and returns at once.
func (p *RootCAPublisher) Publish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for namespace := range p.live {
		p.queue.Add(namespace)
	}
}

// Run runs the controller until the context ends.
func (p *RootCAPublisher) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		reconcile.RunInformer(ctx, p.store, p.namespaces, reconcile.EventHandlerFunc(p.noteNamespace))
	})
	running.Go(func() {
		reconcile.RunNamedInformer(ctx, p.store, p.maps, p.name, reconcile.EventHandlerFunc(func(e reconcile.Event) {
			p.queue.Add(e.Key.Namespace)
		}))
	})
	p.queue.Run(ctx, p.ensure, func(namespace string, err error) {
		p.logger.Warn("a namespace lacks the certificates of the server", "namespace", namespace, "error", err)
	})
}

// noteNamespace keeps live up to date. Only a namespace that is new is queued; other changes of it say nothing about
// its ConfigMap.
func (p *RootCAPublisher) noteNamespace(e reconcile.Event) {
	name := e.Key.Name
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Deleted || e.Meta.Terminating {
		delete(p.live, name)
		return
	}
	if !p.live[name] {
		p.live[name] = true
		p.queue.Add(name)
	}
}

// wanted tells whether a namespace is to have the ConfigMap. A request to make one in a namespace that is being
// deleted would be refused.
func (p *RootCAPublisher) wanted(namespace string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live[namespace]
}

// ensure makes the ConfigMap of a namespace, or corrects it. In a namespace that is being deleted nothing is made.
func (p *RootCAPublisher) ensure(ctx context.Context, namespace string) error {
	if !p.wanted(namespace) {
		return nil
	}
	data := tree.Tree{rootCAKey: string(p.roots())}
	key := meta.Key{GroupResource: p.maps.Storage, Namespace: namespace, Name: p.name}
	o, err := p.store.Get(ctx, request.Get{Kind: p.maps, Key: key})
	if reconcile.IsNotFound(err) {
		return p.create(ctx, key, data)
	}
	if err != nil {
		return err
	}
	object, err := codec.DecodeStored(p.maps.Message(), o.JSON)
	if err != nil {
		return err
	}
	return p.correct(ctx, o, object, data)
}

// create makes the ConfigMap of a namespace that has none.
func (p *RootCAPublisher) create(ctx context.Context, key meta.Key, data tree.Tree) error {
	_, err := p.store.Mutate(ctx, request.Mutation{Kind: p.maps, Key: key, Change: request.Create{Object: tree.Tree{
		"metadata": tree.Tree{"name": key.Name, "namespace": key.Namespace, "annotations": tree.Tree{p.annotation: p.text}},
		"data":     data,
	}}})
	if reconcile.HasReason(err, meta.ReasonAlreadyExists) || reconcile.IsNamespaceTerminating(err) || reconcile.IsNotFound(err) {
		return nil // somebody else has made it, which the watch tells, or the namespace is being deleted
	}
	return err
}

// correct writes the data, and says what it is for unless the object says so in some words. One that is immutable
// cannot be corrected, so it is deleted; the watch has it made anew.
func (p *RootCAPublisher) correct(ctx context.Context, o *meta.Object, object, data tree.Tree) error {
	annotations := object.Object("metadata").Object("annotations")
	if tree.SemanticEqual(object["data"], data) && annotations.String(p.annotation) != "" {
		return nil
	}
	// Other keys are taken out: nil removes a key in a merge patch.
	changes := tree.Tree{rootCAKey: data[rootCAKey]}
	for name := range object.Object("data") {
		if !data.Has(name) {
			changes[name] = nil
		}
	}
	err := reconcile.PatchIfUnchanged(ctx, p.store, p.maps, o, "", tree.Tree{
		"metadata": tree.Tree{"annotations": tree.Tree{p.annotation: p.text}}, "data": changes,
	})
	if reconcile.IsImmutable(err, object) {
		return reconcile.DeleteIfUnchanged(ctx, p.store, p.maps, o, "")
	}
	return err
}
