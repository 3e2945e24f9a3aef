package endpoints

import (
	"net/netip"
	"slices"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A pod is what counts of a Pod for the endpoints of Services. It shares no memory with the object.
// The decoded tree and the stored JSON can be collected once it is made; otherwise a few strings would keep the
// whole of each Pod in memory.
type pod struct {
	key        meta.Key
	uid        meta.Text
	version    uint64
	labels     meta.Labels
	ips        []netip.Addr // those of the status, each once
	nodeName   meta.Text
	hostname   meta.Text
	subdomain  meta.Text
	ports      []containerPort // that have names
	ready      bool
	readySince time.Time // when that changed last
	leaving    bool      // it is being deleted
	ended      bool      // it has succeeded or failed
}

// A containerPort is a port of a container that has a name.
type containerPort struct {
	name, protocol meta.Text
	number         int64
}

// newPod reads what counts of a Pod.
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
	if ready := condition.Find(status, "Ready"); ready != nil {
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

// namedPorts are the named ports of the containers, and of those that are started first and stay.
// The latter are init containers with the restart policy Always (sidecars). Other init containers have ended before
// the Pod serves. Ports without a name are of no use here: a Service refers to a port by its name, or gives the
// number itself.
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

// publishable tells whether the Pod can be among the endpoints of a Service at all.
// Pods that are being deleted can: a slice says of its endpoints that they terminate.
func (p *pod) publishable() bool { return !p.ended && len(p.ips) > 0 }

// sameEndpoints tells whether two states of a Pod make the same endpoints.
// The version and readySince do not count. Most writes of a Pod's status change nothing else, and wake no Service.
func (p *pod) sameEndpoints(other *pod) bool {
	return p.uid == other.uid && slices.Equal(p.labels, other.labels) && slices.Equal(p.ips, other.ips) && slices.Equal(p.ports, other.ports) &&
		p.nodeName == other.nodeName && p.hostname == other.hostname && p.subdomain == other.subdomain &&
		p.ready == other.ready && p.leaving == other.leaving && p.ended == other.ended
}
