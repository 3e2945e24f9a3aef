package endpoints

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Slices maintains the EndpointSlices of Services with a selector.
type Slices struct {
	*reconcile.Controller[meta.Key] // queue of Services
	sliceStore
	backends *Backends
	services reconcile.Client
	triggers triggerTimes
}

// Values of the managed-by label.
const (
	sliceManager  = "endpointslice-controller.platform.io"
	mirrorManager = "endpointslicemirroring-controller.platform.io"
)

func NewSlices(backends *Backends) *Slices {
	env := backends.Env
	s := &Slices{
		sliceStore: newSliceStore(env, sliceManager), backends: backends, services: backends.services.Reporting("endpoint-slice-controller"),
	}
	s.Controller = reconcile.New(env, "endpoint_slice", s.sync, "cannot write the EndpointSlices of a Service", "service")
	backends.onChange(func(service meta.Key) { s.Add(service) })
	s.From(backends)
	s.follow(s.Controller, s.services)
	return s
}

// sync reconciles the slices of one Service. The garbage collector deletes the slices of a deleted
// Service.
func (s *Slices) sync(ctx context.Context, key meta.Key) error {
	o, t, pods, at, err := s.backends.observe(ctx, key, &s.triggers)
	if err != nil || t == nil {
		return err // existing slices stay, because a user may have taken them over
	}
	existing, err := s.list(ctx, key)
	if err != nil {
		return err
	}
	faults := []error{s.deleteOthers(ctx, t, existing)}
	for _, family := range t.families() {
		faults = append(faults, s.syncFamily(ctx, t, family, pods, existing, at))
	}
	if err = errors.Join(faults...); err != nil && !reconcile.IsConflict(err) {
		s.services.Warn(o, "FailedToUpdateEndpointSlices", "Error updating Endpoint Slices for Service "+key.Namespace+"/"+key.Name+": "+err.Error())
	}
	s.pause(len(pods))
	return err
}

// pause delays the worker after it has synced a Service with many Pods, to batch later changes.
func (s *Slices) pause(pods int) {
	if pods > pausedPods {
		time.Sleep(min(time.Duration(pods)*pausePerPod, maxPause))
	}
}

const (
	pausedPods  = 500
	pausePerPod = 100 * time.Microsecond
	maxPause    = time.Second
)

func (t *target) families() []string {
	var families []string
	for _, f := range t.spec.Strings("ipFamilies") {
		if f == ipv4 || f == ipv6 {
			families = append(families, f)
		}
	}
	return families
}

// deleteOthers deletes slices of families that the Service no longer has, and slices of a deleted
// Service with the same name.
func (s *Slices) deleteOthers(ctx context.Context, t *target, existing []existingSlice) error {
	families := map[string]bool{}
	for _, f := range t.families() {
		families[f] = true
	}
	var faults []error
	for _, e := range existing {
		if !families[e.tree.String("addressType")] || !e.ownedBy(t.object) {
			faults = append(faults, s.slices.Delete(ctx, e.object))
		}
	}
	return errors.Join(faults...)
}

func (s *Slices) syncFamily(ctx context.Context, t *target, family string, pods []*pod, existing []existingSlice, at time.Time) error {
	wanted := map[string][]tree.Tree{}
	ports := map[string][]tree.Tree{}
	for _, p := range pods {
		e := s.endpoint(t, p, family)
		if e == nil {
			continue
		}
		of := t.portsOf(p)
		key := portsKey(of)
		wanted[key], ports[key] = append(wanted[key], e), of
	}
	had := map[string][]*slice{}
	all := []*slice{}
	for _, e := range existing {
		if e.tree.String("addressType") == family && e.ownedBy(t.object) {
			x := &slice{name: e.object.Key.Name, object: e.tree, endpoints: e.tree.Objects("endpoints")}
			key := portsKey(e.tree.Objects("ports"))
			had[key], all = append(had[key], x), append(all, x)
		}
	}
	var plan slicePlan
	for key := range wanted {
		kept, created, emptied := pack(had[key], wanted[key], maxEndpointsPerSlice)
		for _, c := range created {
			c.object = s.newSlice(t, family, ports[key])
		}
		plan.kept, plan.created, plan.emptied = append(plan.kept, kept...), append(plan.created, created...), append(plan.emptied, emptied...)
	}
	for key, unwanted := range had {
		if _, ok := wanted[key]; !ok {
			plan.emptied = append(plan.emptied, unwanted...)
		}
	}
	plan.keepPlaceholder(func() *slice { return &slice{object: s.newSlice(t, family, nil)} }, len(all))
	plan.reuse()
	return s.write(ctx, t.object, plan, s.sliceLabels(t), at)
}

type slicePlan struct{ kept, created, emptied []*slice }

// keepPlaceholder keeps at least one slice, even without endpoints and ports, to show that the
// Service was processed.
func (p *slicePlan) keepPlaceholder(empty func() *slice, existing int) {
	if len(p.emptied) != existing || len(p.created) > 0 {
		return
	}
	if len(p.emptied) == 1 && len(p.emptied[0].object.Objects("ports")) == 0 && len(p.emptied[0].object.Objects("endpoints")) == 0 {
		p.kept, p.emptied = p.emptied, nil
		return
	}
	p.created = append(p.created, empty())
}

func (p *slicePlan) reuse() {
	for len(p.created) > 0 && len(p.emptied) > 0 {
		from, to := p.emptied[len(p.emptied)-1], p.created[len(p.created)-1]
		p.emptied, p.created = p.emptied[:len(p.emptied)-1], p.created[:len(p.created)-1]
		to.name, to.changed = from.name, true
		metadata := without(from.object.Object("metadata"), "labels")
		metadata.CopyField(to.object.Object("metadata"), "labels")
		to.object["metadata"] = metadata
		p.kept = append(p.kept, to)
	}
}

func (s *Slices) endpoint(t *target, p *pod, family string) tree.Tree {
	if !p.publishable() {
		return nil
	}
	zone, known := s.backends.zoneOf(p.nodeName.String())
	if !known && !t.publishesNotReady() {
		return nil
	}
	var addresses []any
	for _, a := range p.ips {
		if familyOf(a) == family {
			addresses = append(addresses, a.String())
		}
	}
	if len(addresses) == 0 {
		return nil
	}
	ready := t.publishesNotReady() || p.ready && !p.leaving
	e := tree.Tree{
		"addresses":  addresses,
		"conditions": tree.Tree{"ready": ready, "serving": p.ready, "terminating": p.leaving},
		"targetRef":  tree.Tree{"kind": "Pod", "namespace": p.key.Namespace, "name": p.key.Name, "uid": p.uid.String()},
	}
	if node := p.nodeName.String(); node != "" {
		e["nodeName"] = node
	}
	if zone != "" {
		e["zone"] = zone
	}
	if t.hasHostname(p) {
		e["hostname"] = p.hostname.String()
	}
	if hints := t.hints(p, zone); ready && hints != nil {
		e["hints"] = hints
	}
	return e
}

func (t *target) hints(p *pod, zone string) tree.Tree {
	near := t.spec.String("trafficDistribution")
	if near != "PreferClose" && near != "PreferSameZone" && near != "PreferSameNode" {
		return nil
	}
	hints := tree.Tree{}
	if zone != "" {
		hints["forZones"] = []any{tree.Tree{"name": zone}}
	}
	if node := p.nodeName.String(); near == "PreferSameNode" && node != "" {
		hints["forNodes"] = []any{tree.Tree{"name": node}}
	}
	if len(hints) == 0 {
		return nil
	}
	return hints
}

func familyOf(a netip.Addr) string {
	if a.Is6() {
		return ipv6
	}
	return ipv4
}

func (s *Slices) newSlice(t *target, family string, ports []tree.Tree) tree.Tree {
	return tree.Tree{
		"metadata": tree.Tree{
			"generateName": sliceNamePrefix(t.object.Key.Name), "namespace": t.object.Key.Namespace, "labels": s.sliceLabels(t),
			"ownerReferences": []any{s.services.ControllerReference(t.object.Key.Name, t.object.Meta.UID)},
		},
		"addressType": family, "ports": tree.ListOf(ports), "endpoints": []any{},
	}
}

func (s *Slices) sliceLabels(t *target) tree.Tree {
	labels := without(t.labels, s.serviceLabel, s.managerLabel, s.headlessLabel)
	if t.headless() {
		labels[s.headlessLabel] = ""
	}
	labels[s.serviceLabel], labels[s.managerLabel] = t.object.Key.Name, s.manager
	return labels
}
