package endpoints

import (
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

const (
	ipv4 = "IPv4"
	ipv6 = "IPv6"
)

// A target is a Service with a selector.
type target struct {
	object   *meta.Object
	spec     tree.Tree
	labels   tree.Tree
	selector selector.Labels
	created  time.Time
}

func newTarget(o *meta.Object, object tree.Tree) (t *target, ok bool) {
	spec := object.Object("spec")
	if spec.String("type") == "ExternalName" {
		return nil, false
	}
	matching, ok := selectorOf(spec)
	if !ok {
		return nil, false
	}
	t = &target{object: o, spec: spec, labels: object.Labels(), selector: matching}
	t.created = reconcile.Time(object.Object("metadata"), "creationTimestamp")
	return t, true
}

func selectorOf(spec tree.Tree) (matching selector.Labels, ok bool) {
	labels := spec.Object("selector")
	if len(labels) == 0 {
		return matching, false
	}
	return selector.FromLabelSelector(tree.Tree{"matchLabels": labels})
}

func (t *target) publishesNotReady() bool { return t.spec.Bool("publishNotReadyAddresses") }

func (t *target) headless() bool {
	return service.IsHeadless(t.spec) || t.spec.String("clusterIP") == ""
}

func (t *target) hasHostname(p *pod) bool {
	return p.hostname.String() != "" && p.subdomain.String() == t.object.Key.Name
}

// portOf returns the Pod's port number for a port of the Service. It returns false if the Pod has
// no port of that name.
func portOf(p *pod, port tree.Tree) (int64, bool) {
	if n, ok := port.Int("targetPort"); ok {
		return n, true
	}
	name := port.String("targetPort")
	for _, c := range p.ports {
		if c.name.String() == name && c.protocol.String() == port.String("protocol") {
			return c.number, true
		}
	}
	return 0, false
}

func (t *target) portsOf(p *pod) []tree.Tree {
	var ports []tree.Tree
	for _, port := range t.spec.Objects("ports") {
		number, ok := portOf(p, port)
		if !ok {
			continue
		}
		to := tree.Tree{"name": port.String("name"), "port": number, "protocol": port.String("protocol")}
		to.CopyField(port, "appProtocol")
		ports = append(ports, to)
	}
	return ports
}
