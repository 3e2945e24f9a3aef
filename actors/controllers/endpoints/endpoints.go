package endpoints

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Endpoints keeps the Endpoints objects of Services with a selector, for clients that do not know EndpointSlices.
//
// Each Endpoints object has the name of its Service and holds addresses of one family only, the first one of the
// Service: the kind is older than Services with two families.
type Endpoints struct {
	backends *Backends
	store    Store
	kind     *schema.Kind
	services *schema.Kind
	queue    *reconcile.Workqueue[meta.Key]
	triggers triggerTimes
	events   *reconcile.EventRecorder
	logger   *slog.Logger

	managerLabel, headlessLabel, triggerAnnotation, capacityAnnotation, leaderAnnotation string
}

// endpointsManager is how Endpoints objects name their controller.
const endpointsManager = "endpoint-controller"

// NewEndpoints returns the controller.
// It must be called before the Backends run: changes of Services are not delivered to functions that register later.
func NewEndpoints(backends *Backends) *Endpoints {
	kinds, n := backends.kinds, backends.kinds.Naming()
	e := &Endpoints{
		backends: backends, store: backends.store, kind: reconcile.CoreKind(kinds, "Endpoints"), services: reconcile.CoreKind(kinds, "Service"),
		queue: reconcile.NewWorkqueue[meta.Key]().Named("endpoint"), events: reconcile.NewEventRecorder(backends.store, kinds, endpointsManager), logger: backends.logger,
		managerLabel: n.Translate("endpoints.platform.io/managed-by"), headlessLabel: n.Translate("service.platform.io/headless"),
		triggerAnnotation: n.Translate("endpoints.platform.io/last-change-trigger-time"), capacityAnnotation: n.Translate("endpoints.platform.io/over-capacity"),
		leaderAnnotation: leaderAnnotation(n),
	}
	backends.onChange(func(service meta.Key) { e.queue.Add(service) })
	return e
}

// leaderAnnotation marks the Endpoints objects by which processes elect a leader.
func leaderAnnotation(n *meta.Naming) string {
	return n.Translate("control-plane.alpha.platform.io/leader")
}

// Run runs the controller until the context ends.
func (e *Endpoints) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { e.backends.run(ctx) })
	running.Go(func() { reconcile.RunInformer(ctx, e.store, e.kind, &endpointsHandler{Endpoints: e}) })
	e.queue.Run(ctx, e.sync, func(key meta.Key, err error) {
		e.logger.Warn("the Endpoints of a Service cannot be written", "service", key.String(), "error", err)
	})
}

// endpointsHandler has the Services looked at whose Endpoints have changed. Endpoints that others have made for a Service
// that does not exist yet are theirs, but those that are there at the start without a Service are left over.
//
// RunInformer calls the handler from one goroutine at a time, so that synced needs no lock.
type endpointsHandler struct {
	*Endpoints
	synced bool
}

// OnSynced implements reconcile.EventHandler.
func (h *endpointsHandler) OnSynced() { h.synced = true }

// OnEvent implements reconcile.EventHandler.
func (h *endpointsHandler) OnEvent(e reconcile.Event) {
	manager, _ := e.Meta.Labels.Get(h.managerLabel)
	if e.Deleted || !h.synced || manager == endpointsManager {
		h.queue.Add(meta.Key{GroupResource: h.services.Storage, Namespace: e.Key.Namespace, Name: e.Key.Name})
	}
}

// sync brings the Endpoints of one Service up to date.
//
// Endpoints of a Service that has lost its selector are left alone: from then on they belong to the user. A conflict
// is not reported as an event, as the queue simply tries again.
func (e *Endpoints) sync(ctx context.Context, key meta.Key) error {
	o, object, err := reconcile.Read(ctx, e.store, e.services, key)
	if err != nil {
		return err
	}
	if o == nil {
		e.triggers.forget(key)
		return e.delete(ctx, key)
	}
	t, ok := newTarget(o, object)
	if !ok {
		e.triggers.forget(key)
		return nil
	}
	pods, err := e.backends.podsOf(ctx, t)
	if err != nil {
		return err
	}
	at := e.triggers.changed(t, pods)
	subsets := subsetsOf(t.backends(pods))
	truncated := truncate(subsets)
	endpointsKey := meta.Key{GroupResource: e.kind.Storage, Namespace: key.Namespace, Name: key.Name}
	current, has, err := reconcile.Read(ctx, e.store, e.kind, endpointsKey)
	if err != nil {
		return err
	}
	wanted := e.wanted(t, has, subsets, truncated, at)
	reason, text := "FailedToUpdateEndpoint", "Failed to update endpoint "+key.Namespace+"/"+key.Name+": "
	switch {
	case current == nil && o.Meta.Terminating:
		return nil
	case current == nil:
		reason, text = "FailedToCreateEndpoint", "Failed to create endpoint for service "+key.Namespace+"/"+key.Name+": "
		err = reconcile.Create(ctx, e.store, e.kind, endpointsKey, wanted)
	case e.same(has, wanted):
		return nil
	default:
		err = reconcile.Replace(ctx, e.store, e.kind, current, wanted)
	}
	if err != nil && !reconcile.IsConflict(err) {
		e.events.Record(ctx, e.services, o, reconcile.Warning, reason, text+err.Error())
	}
	return err
}

// backends are the addresses of Pods at the ports of a Service.
//
// A headless Service may have no ports at all; its addresses are then listed without one, since DNS needs nothing
// else. An unnamed port loses the empty name, which the kind leaves out rather than stores.
func (t *target) backends(pods []*pod) []backend {
	families := t.families()
	if len(families) == 0 {
		return nil
	}
	ports := t.spec.Objects("ports")
	var all []backend
	for _, p := range pods {
		address := t.address(p, families[0])
		if address == nil {
			continue
		}
		ready := t.publishesNotReady() || p.ready
		if len(ports) == 0 && t.headless() {
			all = append(all, backend{address, nil, ready})
		}
		for _, port := range t.portsOf(p) {
			if port.String("name") == "" {
				delete(port, "name")
			}
			all = append(all, backend{address, port, ready})
		}
	}
	return all
}

// address is the address of a Pod; nil if it has none of that family, or is about to end.
// Unlike slices, Endpoints have no way to say that an address is still served while it terminates, so that such Pods
// are left out.
func (t *target) address(p *pod, family string) tree.Tree {
	if !p.publishable() || p.leaving && !t.publishesNotReady() {
		return nil
	}
	for _, a := range p.ips {
		if familyOf(a) != family {
			continue
		}
		address := tree.Tree{"ip": a.String(), "targetRef": tree.Tree{"kind": "Pod", "namespace": p.key.Namespace, "name": p.key.Name, "uid": p.uid.String()}}
		if node := p.nodeName.String(); node != "" {
			address["nodeName"] = node
		}
		if t.hasHostname(p) {
			address["hostname"] = p.hostname.String()
		}
		return address
	}
	return nil
}

// wanted is the Endpoints object of a Service, in place of the one that it has.
//
// Labels are those of the Service; annotations of others stay. Every map is copied before it is changed: has is
// compared with the outcome afterwards, and would otherwise always equal it.
func (e *Endpoints) wanted(t *target, has tree.Tree, subsets []any, truncated bool, at time.Time) tree.Tree {
	metadata := without(has.Object("metadata"))
	if metadata == nil {
		metadata = tree.Tree{"namespace": t.object.Key.Namespace, "name": t.object.Key.Name}
	}
	labels := without(t.labels, e.headlessLabel)
	if labels == nil {
		labels = tree.Tree{}
	}
	if labels[e.managerLabel] = endpointsManager; t.headless() {
		labels[e.headlessLabel] = ""
	}
	annotations := without(metadata.Object("annotations"), e.triggerAnnotation, e.capacityAnnotation)
	if annotations == nil {
		annotations = tree.Tree{}
	}
	if !at.IsZero() {
		annotations[e.triggerAnnotation] = at.UTC().Format(time.RFC3339Nano)
	}
	if truncated {
		annotations[e.capacityAnnotation] = "truncated"
	}
	metadata["labels"], metadata["annotations"] = labels, annotations
	object := tree.Tree{"metadata": metadata}
	if len(subsets) > 0 {
		object["subsets"] = subsets
	}
	return object
}

// same tells whether two Endpoints objects say the same, whenever that came to be.
// The annotation with the trigger time is left out on purpose: it is absent when nothing new has triggered a sync,
// and to compare it would mean a write for each sync that changes no address.
func (e *Endpoints) same(a, b tree.Tree) bool {
	annotation := func(o tree.Tree) string { return o.Object("metadata", "annotations").String(e.capacityAnnotation) }
	return annotation(a) == annotation(b) && tree.SemanticEqual(a.Object("metadata", "labels"), b.Object("metadata", "labels")) &&
		tree.SemanticEqual(a["subsets"], b["subsets"])
}

// delete deletes the Endpoints of a Service that is gone, but not those by which processes elect a leader.
// The uid is a precondition, so that an object that somebody has made anew under the name in the meantime survives.
func (e *Endpoints) delete(ctx context.Context, service meta.Key) error {
	key := meta.Key{GroupResource: e.kind.Storage, Namespace: service.Namespace, Name: service.Name}
	o, object, err := reconcile.Read(ctx, e.store, e.kind, key)
	if err != nil || o == nil || object.Object("metadata", "annotations").Has(e.leaderAnnotation) {
		return err
	}
	_, err = e.store.Mutate(ctx, request.Mutation{Kind: e.kind, Key: key, Change: request.Delete{UID: &o.Meta.UID}})
	if reconcile.IsNotFound(err) {
		return nil
	}
	return err
}
