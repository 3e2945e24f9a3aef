package endpoints

import (
	"net/netip"
	"slices"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A pod holds the parts of a Pod that matter for endpoints. It shares no memory with the object,
// because one string would keep the object's whole JSON in memory.
type pod struct {
	key        meta.Key
	uid        meta.Text
	version    uint64
	labels     meta.Labels
	ips        []netip.Addr // from the status, without duplicates
	nodeName   meta.Text
	hostname   meta.Text
	subdomain  meta.Text
	ports      []containerPort // named ones
	ready      bool
	readySince time.Time // last transition of ready
	leaving    bool      // terminating
	ended      bool      // succeeded or failed
}

type containerPort struct {
	name, protocol meta.Text
	number         int64
}

func newPod(o *meta.Object, object tree.Tree) *pod {
	spec, status := object.Object("spec"), object.Object("status")
	p := &pod{
		key: o.Key,
		uid: meta.NewText(o.Meta.UID), version: o.Version, labels: o.Meta.Clone().Labels,
		nodeName: meta.NewText(spec.String("nodeName")), hostname: meta.NewText(spec.String("hostname")), subdomain: meta.NewText(spec.String("subdomain")),
		ports: namedPorts(spec), leaving: o.Meta.Terminating, ended: status.String("phase") == "Succeeded" || status.String("phase") == "Failed",
	}
	p.addIP(status.String("podIP"))
	for _, ip := range status.Objects("podIPs") {
		p.addIP(ip.String("ip"))
	}
	if ready := tree.FindCondition(status, "Ready"); ready != nil {
		p.ready = ready.String("status") == "True"
		p.readySince = reconcile.Time(ready, "lastTransitionTime")
	}
	return p
}

func (p *pod) addIP(text string) {
	if a, err := address.Parse(text); err == nil && !slices.Contains(p.ips, a) {
		p.ips = append(p.ips, a)
	}
}

// namedPorts returns the named ports of containers and sidecars. A Service refers to other ports by
// number.
func namedPorts(spec tree.Tree) []containerPort {
	var ports []containerPort
	add := func(container tree.Tree) {
		for _, p := range container.Objects("ports") {
			if name := p.String("name"); name != "" {
				number, _ := p.Int("containerPort")
				ports = append(ports, containerPort{meta.NewText(name), meta.NewText(p.String("protocol")), number})
			}
		}
	}
	for _, c := range spec.Objects("containers") {
		add(c)
	}
	for _, c := range spec.Objects("initContainers") {
		if c.String("restartPolicy") == "Always" {
			add(c)
		}
	}
	return ports
}

// publishable reports whether the Pod has an entry in EndpointSlices. A terminating Pod still has
// one.
func (p *pod) publishable() bool { return !p.ended && len(p.ips) > 0 }

func (p *pod) sameEndpoints(other *pod) bool {
	return p.uid == other.uid && slices.Equal(p.labels, other.labels) && slices.Equal(p.ips, other.ips) && slices.Equal(p.ports, other.ports) &&
		p.nodeName == other.nodeName && p.hostname == other.hostname && p.subdomain == other.subdomain &&
		p.ready == other.ready && p.leaving == other.leaving && p.ended == other.ended
}
