package certificates

import (
	"context"
	"fmt"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
)

const rootCAKey = "ca.crt"

// RootCAPublisher maintains a ConfigMap with the server's CAs, for use by Pods, in every namespace
// that is not terminating. It watches namespaces and these ConfigMaps.
type RootCAPublisher struct {
	*reconcile.Controller[string] // queue of namespaces
	maps                          reconcile.Client
	name                          string
	annotation, text              string // the description of the ConfigMap
	roots                         func() []byte

	mu   sync.Mutex // guards live
	live map[string]bool
}

// NewRootCAPublisher returns a new RootCAPublisher. roots returns the current CAs as PEM. The
// caller must call Publish when they change.
func NewRootCAPublisher(env *reconcile.Env, roots func() []byte) *RootCAPublisher {
	p := &RootCAPublisher{
		maps: env.Core("ConfigMap"), roots: roots, live: map[string]bool{},
		name: env.Translate("platform-root-ca.crt"), annotation: env.Translate("platform.io/description"),
		text: fmt.Sprintf("Contains a CA bundle that can be used to verify the %s when using internal endpoints such as the internal service IP or %s.default.svc. "+
			"No other usage is guaranteed across distributions of %s clusters.", env.Translate("platform-apiserver"), env.Translate("platform"), env.Product()),
	}
	p.Controller = reconcile.New(env, "root_ca_cert_publisher", p.ensure, "cannot publish the CAs in a namespace", "namespace")
	p.Watch(env.Core("Namespace"), p.noteNamespace)
	p.Watch(p.maps, func(e reconcile.Event) { p.Add(e.Key.Namespace) }).Name = p.name
	return p
}

// Publish schedules an update of all ConfigMaps and returns immediately.
func (p *RootCAPublisher) Publish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for namespace := range p.live {
		p.Add(namespace)
	}
}

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
		p.Add(name)
	}
}

// wanted reports whether the namespace needs a ConfigMap. Terminating namespaces reject creates.
func (p *RootCAPublisher) wanted(namespace string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live[namespace]
}

func (p *RootCAPublisher) ensure(ctx context.Context, namespace string) error {
	if !p.wanted(namespace) {
		return nil
	}
	description, data := tree.Tree{p.annotation: p.text}, tree.Tree{rootCAKey: string(p.roots())}
	o, object, err := p.maps.ReadNamed(ctx, namespace, p.name)
	if err != nil {
		return err
	}
	if o == nil {
		return p.maps.Ensure(ctx, tree.Tree{"metadata": tree.Tree{"name": p.name, "namespace": namespace, "annotations": description}, "data": data})
	}
	if tree.SemanticEqual(object["data"], data) && object.Annotations().String(p.annotation) != "" {
		return nil
	}
	for name := range object.Object("data") {
		if !data.Has(name) {
			data[name] = nil
		}
	}
	err = p.maps.Patch(ctx, o, "", tree.Tree{"metadata": tree.Tree{"annotations": description}, "data": data})
	if reconcile.IsImmutable(err, object) {
		return p.maps.Delete(ctx, o)
	}
	return err
}
