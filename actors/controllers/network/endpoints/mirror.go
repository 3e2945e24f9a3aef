package endpoints

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Mirror copies user-managed Endpoints of selectorless Services into EndpointSlices, for clients
// that read only EndpointSlices. Slices handles Services with a selector.
type Mirror struct {
	*reconcile.Controller[meta.Key] // queue of Endpoints
	sliceStore
	endpoints, services reconcile.Client

	skipLabel, leaderAnnotation, appliedAnnotation string
}

// maxMirrored is the maximum number of addresses mirrored per subset, ready or not, across both
// families.
const maxMirrored = 1000

func NewMirror(env *reconcile.Env) *Mirror {
	m := &Mirror{
		sliceStore: newSliceStore(env, mirrorManager), services: env.Core("Service"),
		endpoints: env.Core("Endpoints").Reporting("endpoint-slice-mirroring-controller"),
		skipLabel: env.Translate("endpointslice.platform.io/skip-mirror"), leaderAnnotation: leaderAnnotation(env.Naming),
		appliedAnnotation: env.Translate("kubectl.platform.io/last-applied-configuration"),
	}
	m.Controller = reconcile.New(env, "endpoint_slice_mirroring", m.sync, "cannot mirror Endpoints", "endpoints")
	add := func(e reconcile.Event) { m.Add(m.endpoints.Key(e.Key.Namespace, e.Key.Name)) }
	m.Watch(m.endpoints, add)
	m.Watch(m.services, add)
	m.follow(m.Controller, m.endpoints)
	return m
}

func (m *Mirror) sync(ctx context.Context, key meta.Key) error {
	o, object, err := m.endpoints.Read(ctx, key)
	if err != nil {
		return err
	}
	existing, err := m.list(ctx, key)
	if err != nil {
		return err
	}
	mirrored := o != nil && m.mirrors(o, object)
	if mirrored {
		mirrored, err = m.servesWithoutSelector(ctx, key)
	}
	if err != nil || !mirrored {
		return errors.Join(err, m.deleteAll(ctx, existing))
	}
	if err = m.reconcile(ctx, o, object, existing); err != nil && !reconcile.IsConflict(err) {
		m.endpoints.Warn(o, "FailedToUpdateEndpointSlices", "Failed to update EndpointSlices for Endpoints "+key.Namespace+"/"+key.Name+": "+err.Error())
	}
	return err
}

// mirrors reports whether an Endpoints object is eligible for mirroring. Objects for leader
// election are not mirrored, because they change often and have no addresses.
func (m *Mirror) mirrors(o *meta.Object, object tree.Tree) bool {
	skip, _ := o.Meta.Labels.Get(m.skipLabel)
	return skip != "true" && !object.Annotations().Has(m.leaderAnnotation)
}

func (m *Mirror) servesWithoutSelector(ctx context.Context, key meta.Key) (bool, error) {
	o, object, err := m.services.ReadNamed(ctx, key.Namespace, key.Name)
	if err != nil || o == nil {
		return false, err
	}
	return len(object.Object("spec", "selector")) == 0, nil
}

func (m *Mirror) deleteAll(ctx context.Context, existing []existingSlice) error {
	var faults []error
	for _, e := range existing {
		faults = append(faults, m.slices.Delete(ctx, e.object))
	}
	return errors.Join(faults...)
}

// A mirroredGroup is the desired content of one slice. Its endpoints share one family and the same
// ports.
type mirroredGroup struct {
	family    string
	ports     []any
	endpoints []tree.Tree
}

// reconcile writes one slice per family and set of ports, and reuses stored slices. It deletes
// surplus slices last, so that clients may briefly see an address twice but never miss an address.
func (m *Mirror) reconcile(ctx context.Context, o *meta.Object, object tree.Tree, existing []existingSlice) error {
	groups, invalid, skipped := mirroredGroups(object)
	if invalid > 0 {
		m.endpoints.Warn(o, "InvalidIPAddress", fmt.Sprintf("Skipped %d invalid IP addresses when mirroring to EndpointSlices", invalid))
	}
	if skipped > 0 {
		m.endpoints.Warn(o, "TooManyAddressesToMirror",
			fmt.Sprintf("A max of %d addresses can be mirrored to EndpointSlices per Endpoints subset. %d addresses were skipped", maxMirrored, skipped+invalid))
	}
	var plan slicePlan
	had := map[string][]existingSlice{}
	for _, e := range existing {
		key := e.tree.String("addressType") + portsKey(e.tree.Objects("ports"))
		had[key] = append(had[key], e)
	}
	for key, g := range groups {
		x := &slice{object: m.newSlice(o, object, g), endpoints: g.endpoints}
		if len(had[key]) == 0 {
			plan.created = append(plan.created, x)
			continue
		}
		current := had[key][0]
		had[key] = had[key][1:]
		x.name, x.changed = current.object.Key.Name, !m.same(current.tree, x)
		plan.kept = append(plan.kept, m.inPlace(x, current.tree))
	}
	for _, unwanted := range had {
		for _, e := range unwanted {
			plan.emptied = append(plan.emptied, &slice{name: e.object.Key.Name, object: e.tree})
		}
	}
	return m.write(ctx, o, plan, nil, time.Time{})
}

func (m *Mirror) inPlace(x *slice, current tree.Tree) *slice {
	metadata := without(current.Object("metadata"), "annotations", "labels")
	wanted := x.object.Object("metadata")
	for _, name := range []string{"annotations", "labels", "ownerReferences"} {
		metadata.CopyField(wanted, name)
	}
	x.object["metadata"] = metadata
	return x
}

// same reports whether current already has the content of x. The caller has looked up current by
// address family and ports, so same does not compare them.
func (m *Mirror) same(current tree.Tree, x *slice) bool {
	wanted, has := x.object.Object("metadata"), current.Object("metadata")
	annotations := without(has.Object("annotations"), m.triggerAnnotation)
	return tree.SemanticEqual(wanted.Object("labels"), has.Object("labels")) && tree.SemanticEqual(wanted.Object("annotations"), annotations) &&
		tree.SemanticEqual(wanted["ownerReferences"], has["ownerReferences"]) && sameEndpoints(x.endpoints, current.Objects("endpoints"))
}

func sameEndpoints(a, b []tree.Tree) bool {
	if len(a) != len(b) {
		return false
	}
	byIdentity := map[string]tree.Tree{}
	for _, e := range a {
		byIdentity[identity(e)] = e
	}
	for _, e := range b {
		if other, ok := byIdentity[identity(e)]; !ok || !tree.SemanticEqual(e, other) {
			return false
		}
	}
	return true
}

// newSlice returns the slice for a group. It copies labels and annotations except the trigger time
// and kubectl's last-applied configuration, which describes the Endpoints object.
func (m *Mirror) newSlice(o *meta.Object, object tree.Tree, g *mirroredGroup) tree.Tree {
	labels := without(object.Labels())
	labels[m.serviceLabel], labels[m.managerLabel] = o.Key.Name, m.manager
	metadata := tree.Tree{
		"generateName": sliceNamePrefix(o.Key.Name), "namespace": o.Key.Namespace, "labels": labels,
		"ownerReferences": []any{m.endpoints.ControllerReference(o.Key.Name, o.Meta.UID)},
	}
	if annotations := without(object.Annotations(), m.triggerAnnotation, m.appliedAnnotation); len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	return tree.Tree{"metadata": metadata, "addressType": g.family, "ports": g.ports}
}

// mirroredGroups splits an Endpoints object into groups by family and ports, and counts invalid and
// skipped addresses. It first repacks the subsets, because users may repeat ports across subsets
// and a group must not mix two sets of ports.
func mirroredGroups(object tree.Tree) (groups map[string]*mirroredGroup, invalid, skipped int) {
	groups = map[string]*mirroredGroup{}
	for _, s := range subsetsOf(backendsOf(object.Objects("subsets"))) {
		subset := s.(tree.Tree)
		ports := mirroredPorts(subset)
		mirrored := 0
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for _, each := range subset.Objects(list) {
				a, err := address.Parse(each.String("ip"))
				switch {
				case err != nil:
					invalid++
					continue
				case mirrored >= maxMirrored:
					skipped++
					continue
				}
				mirrored++
				key := familyOf(a) + portsKey(ports)
				if groups[key] == nil {
					groups[key] = &mirroredGroup{family: familyOf(a), ports: tree.Clone(tree.ListOf(ports)).([]any)}
				}
				groups[key].endpoints = append(groups[key].endpoints, mirroredEndpoint(each, a, list == "addresses"))
			}
		}
	}
	return groups, invalid, skipped
}

// mirroredPorts sets missing port names to "", because every port of an EndpointSlice has a name.
func mirroredPorts(subset tree.Tree) []tree.Tree {
	var ports []tree.Tree
	for _, p := range subset.Objects("ports") {
		p = without(p)
		p["name"] = p.String("name")
		ports = append(ports, p)
	}
	return ports
}

func mirroredEndpoint(address tree.Tree, a netip.Addr, ready bool) tree.Tree {
	e := tree.Tree{"addresses": []any{a.String()}, "conditions": tree.Tree{"ready": ready}}
	for _, name := range []string{"targetRef", "nodeName", "hostname"} {
		e.CopyField(address, name)
	}
	return e
}
