package endpoints

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Endpoints maintains the Endpoints objects of Services with a selector, for clients that do not
// use EndpointSlices. An Endpoints object has the name of its Service, and addresses of the
// Service's first family only.
type Endpoints struct {
	*reconcile.Controller[meta.Key] // queue of Services
	backends                        *Backends
	endpoints, services             reconcile.Client
	triggers                        triggerTimes

	managerLabel, headlessLabel, triggerAnnotation, capacityAnnotation, leaderAnnotation string
}

const endpointsManager = "endpoint-controller"

// NewEndpoints returns a new Endpoints controller. It must be called before backends runs.
func NewEndpoints(backends *Backends) *Endpoints {
	env := backends.Env
	e := &Endpoints{
		backends: backends, endpoints: env.Core("Endpoints"), services: backends.services.Reporting(endpointsManager),
		managerLabel: env.Translate("endpoints.platform.io/managed-by"), headlessLabel: env.Translate("service.platform.io/headless"),
		triggerAnnotation: env.Translate("endpoints.platform.io/last-change-trigger-time"), capacityAnnotation: env.Translate("endpoints.platform.io/over-capacity"),
		leaderAnnotation: leaderAnnotation(env.Naming),
	}
	e.Controller = reconcile.New(env, "endpoint", e.sync, "cannot write the Endpoints of a Service", "service")
	backends.onChange(func(service meta.Key) { e.Add(service) })
	synced := false
	e.From(backends)
	e.Watch(e.endpoints, func(is reconcile.Event) {
		manager, _ := is.Meta.Labels.Get(e.managerLabel)
		if is.Deleted || !synced || manager == endpointsManager {
			e.Add(e.services.Key(is.Key.Namespace, is.Key.Name))
		}
	}).Synced = func() { synced = true }
	return e
}

func leaderAnnotation(n *meta.Naming) string {
	return n.Translate("control-plane.alpha.platform.io/leader")
}

// sync reconciles the Endpoints object of one Service. If the Service has no selector, the object
// belongs to the user.
func (e *Endpoints) sync(ctx context.Context, key meta.Key) error {
	o, t, pods, at, err := e.backends.observe(ctx, key, &e.triggers)
	switch {
	case err != nil:
		return err
	case o == nil:
		return e.delete(ctx, key)
	case t == nil:
		return nil
	}
	subsets := subsetsOf(t.backends(pods))
	truncated := truncate(subsets)
	current, has, err := e.endpoints.ReadNamed(ctx, key.Namespace, key.Name)
	if err != nil {
		return err
	}
	wanted := e.wanted(t, has, subsets, at)
	if truncated {
		wanted.EnsureObject("metadata", "annotations")[e.capacityAnnotation] = "truncated"
	}
	reason, text := "FailedToUpdateEndpoint", "Failed to update endpoint "+key.Namespace+"/"+key.Name+": "
	switch {
	case current == nil && o.Meta.Terminating:
		return nil
	case current == nil:
		reason, text = "FailedToCreateEndpoint", "Failed to create endpoint for service "+key.Namespace+"/"+key.Name+": "
		_, err = e.endpoints.Create(ctx, wanted)
		err = reconcile.Except(err, reconcile.IsNamespaceTerminating, reconcile.IsNotFound)
	case e.same(has, wanted):
		return nil
	default:
		_, err = e.endpoints.Update(ctx, "", wanted)
	}
	if err != nil && !reconcile.IsConflict(err) {
		e.services.Warn(o, reason, text+err.Error())
	}
	return err
}

// backends returns the addresses of Pods at each port of a Service, or without a port for a
// headless Service without ports. Empty port names are omitted, as the API requires.
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

// address returns the address of a Pod, or nil if the Pod has none in that family or is
// terminating. An Endpoints object, unlike an EndpointSlice, cannot mark an address as terminating.
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

// wanted returns the desired Endpoints object, with the labels of the Service and the annotations
// of other clients. It does not modify has, with which the caller compares the result.
func (e *Endpoints) wanted(t *target, has tree.Tree, subsets []any, at time.Time) tree.Tree {
	metadata := without(has.Object("metadata"))
	if len(metadata) == 0 {
		metadata = tree.Tree{"namespace": t.object.Key.Namespace, "name": t.object.Key.Name}
	}
	labels := without(t.labels, e.headlessLabel)
	if labels[e.managerLabel] = endpointsManager; t.headless() {
		labels[e.headlessLabel] = ""
	}
	annotations := without(metadata.Object("annotations"), e.triggerAnnotation, e.capacityAnnotation)
	if !at.IsZero() {
		annotations[e.triggerAnnotation] = at.UTC().Format(time.RFC3339Nano)
	}
	metadata["labels"], metadata["annotations"] = labels, annotations
	object := tree.Tree{"metadata": metadata}
	if len(subsets) > 0 {
		object["subsets"] = subsets
	}
	return object
}

// same compares Endpoints without the trigger time, which would otherwise force a write per sync.
func (e *Endpoints) same(a, b tree.Tree) bool {
	annotation := func(o tree.Tree) string { return o.Annotations().String(e.capacityAnnotation) }
	return annotation(a) == annotation(b) && tree.SemanticEqual(a.Labels(), b.Labels()) &&
		tree.SemanticEqual(a["subsets"], b["subsets"])
}

// delete deletes an Endpoints object unless it is used for leader election. The uid precondition
// protects a recreated object.
func (e *Endpoints) delete(ctx context.Context, service meta.Key) error {
	o, object, err := e.endpoints.ReadNamed(ctx, service.Namespace, service.Name)
	if err != nil || o == nil || object.Annotations().Has(e.leaderAnnotation) {
		return err
	}
	return e.endpoints.DeleteKey(ctx, o.Key, request.Delete{UID: &o.Meta.UID})
}
