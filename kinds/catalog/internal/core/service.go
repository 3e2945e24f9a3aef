package core

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// serviceStrategy stops at what one object can tell. Allocating cluster addresses and node ports,
// and refusing those that another Service has, needs the other Services and is the work of the
// allocators in actors.
type serviceStrategy struct {
	family.AlwaysWarns
	serviceAnnotations
	addresses warning.Addresses
}

func newServiceStrategy(n *meta.Naming, addresses warning.Addresses) serviceStrategy {
	return serviceStrategy{addresses: addresses, serviceAnnotations: serviceAnnotations{
		hints: n.Translate("service.platform.io/topology-aware-hints"),
		mode:  n.Translate("service.platform.io/topology-mode"),
	}}
}

// isExternal reports whether a Service can be reached from outside of the cluster. Only then does
// externalTrafficPolicy mean anything, and only then may it be set.
func isExternal(spec tree.Tree) bool {
	return service.NeedsNodePort(spec) || spec.String("type") == service.TypeClusterIP && len(spec.List("externalIPs")) > 0
}

// affinitySeconds is the default timeout of session affinity. In seconds: three hours, the value that
// proxies have always assumed.
const affinitySeconds = int64(10800)

// Default fills what proxies would otherwise each have to assume for themselves.
func (serviceStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	switch spec.String("sessionAffinity") {
	case "None":
		delete(spec, "sessionAffinityConfig")
	case "ClientIP":
		if !spec.Object("sessionAffinityConfig", "clientIP").Has("timeoutSeconds") {
			spec["sessionAffinityConfig"] = tree.Tree{"clientIP": tree.Tree{"timeoutSeconds": affinitySeconds}}
		}
	}
	for _, p := range spec.Objects("ports") {
		if p != nil && tree.IsEmpty(p["targetPort"]) {
			port, _ := p.Int("port")
			p["targetPort"] = port
		}
	}
	if isExternal(spec) {
		field.SetIfEmpty(spec, "externalTrafficPolicy", "Cluster")
	}
	// internalTrafficPolicy describes traffic to a cluster address, which an ExternalName does not have. A
	// headless Service gets it nevertheless, as in the API that clients know.
	if service.NeedsClusterIP(spec) {
		field.SetIfAbsent(spec, "internalTrafficPolicy", "Cluster")
	}
	if spec.String("type") == service.TypeLoadBalancer {
		field.SetIfEmpty(spec, "allocateLoadBalancerNodePorts", true)
		for _, at := range obj.Object("status", "loadBalancer").Objects("ingress") {
			if at.String("ip") != "" {
				field.SetIfAbsent(at, "ipMode", "VIP")
			}
		}
	}
}

// Prepare ignores the status in writes of the main resource. An update that leaves out allocated
// addresses and ports keeps them, and a change of the type drops fields of the old type. A Service
// that stops being a load balancer loses the addresses of the balancer at once, since the cloud's
// controller frees them and another Service may get them. The old status is cloned before: objects
// at rest are shared.
func (serviceStrategy) Prepare(obj, old tree.Tree) {
	spec := obj.EnsureObject("spec")
	if spec.String("type") == service.TypeExternalName && slices.Contains([]string{"Cluster", "Local"}, spec.String("internalTrafficPolicy")) {
		delete(spec, "internalTrafficPolicy") // it describes traffic to a cluster address
	}
	if old == nil {
		obj["status"] = tree.Tree{"loadBalancer": tree.Tree{}}
		if ip := spec.String("clusterIP"); ip != "" && len(spec.List("clusterIPs")) == 0 {
			spec["clusterIPs"] = []any{ip}
		}
		return
	}
	obj.CopyField(old, "status")
	was := old.Object("spec")
	patchAllocatedValues(spec, was)
	normalizeClusterIPs(spec, was)
	dropTypeDependentFields(spec, was)
	if spec.String("type") != service.TypeLoadBalancer && len(old.Object("status", "loadBalancer")) > 0 {
		status := tree.Clone(old.Object("status")).(tree.Tree)
		status["loadBalancer"] = tree.Tree{}
		obj["status"] = status
	}
}

// patchAllocatedValues copies addresses and ports that the client left out, so that repeating the body of
// the create changes nothing. Clients that do not read before they write depend on it: with a replace that
// lacks clusterIP, the address would otherwise be released, and every connection of the Service with it.
func patchAllocatedValues(spec, was tree.Tree) {
	if service.NeedsClusterIP(spec) && service.NeedsClusterIP(was) {
		if spec.String("clusterIP") == "" {
			spec.CopyField(was, "clusterIP")
		}
		if len(spec.List("clusterIPs")) == 0 {
			spec.CopyField(was, "clusterIPs")
		}
	}
	if service.NeedsNodePort(spec) && service.NeedsNodePort(was) {
		patchNodePorts(spec, was)
	}
	if n, _ := spec.Int("healthCheckNodePort"); n == 0 && service.NeedsHealthCheck(spec) && service.NeedsHealthCheck(was) {
		spec.CopyField(was, "healthCheckNodePort")
	}
}

// patchNodePorts copies node ports by the names of their ports, unless another port of the update asks for
// them. Ports without a name match each other: only a Service with a single port has such.
func patchNodePorts(spec, was tree.Tree) {
	asked := service.NodePorts(spec)
	byName := map[string]int64{}
	for _, p := range was.Objects("ports") {
		byName[p.String("name")], _ = p.Int("nodePort")
	}
	for _, p := range spec.Objects("ports") {
		n, _ := p.Int("nodePort")
		if had := byName[p.String("name")]; p != nil && n == 0 && had != 0 && !slices.Contains(asked, had) {
			p["nodePort"] = had
		}
	}
}

// hasNewNodePort reports whether spec has a node port that was does not have. A client that changes the
// type to ClusterIP and asks for a node port in the same request contradicts itself and gets a fault; one
// that only forgot to remove the old ports does not.
func hasNewNodePort(spec, was tree.Tree) bool {
	known := map[int64]bool{}
	for _, n := range service.NodePorts(was) {
		known[n] = true
	}
	return slices.ContainsFunc(service.NodePorts(spec), func(n int64) bool { return !known[n] })
}

// normalizeClusterIPs updates clusterIPs when a client that does not know it changes clusterIP. A client
// from before dual-stack sends back the list that it read, so an unchanged list beside a changed address is
// its sign.
func normalizeClusterIPs(spec, was tree.Tree) {
	ip := spec.String("clusterIP")
	if ip == was.String("clusterIP") || !tree.SemanticEqual(spec["clusterIPs"], was["clusterIPs"]) {
		return
	}
	if ip == "" {
		delete(spec, "clusterIPs")
		return
	}
	spec["clusterIPs"] = []any{ip}
}

// dropTypeDependentFields drops fields that the new type does not have, unless the client changed them. A
// user who changes only the type, in an editor or by a patch, would otherwise be told to remove fields that
// the server itself had filled in. What the client did change is left for validation to refuse, because it
// was asked for.
func dropTypeDependentFields(spec, was tree.Tree) {
	drop := func(names ...string) {
		for _, name := range names {
			if tree.SemanticEqual(spec[name], was[name]) {
				delete(spec, name)
			}
		}
	}
	lost := func(needs func(tree.Tree) bool) bool { return needs(was) && !needs(spec) }
	if lost(service.NeedsClusterIP) {
		if tree.SemanticEqual(spec["clusterIP"], was["clusterIP"]) && tree.SemanticEqual(spec["clusterIPs"], was["clusterIPs"]) {
			drop("clusterIP", "clusterIPs")
		}
		drop("ipFamilies", "ipFamilyPolicy")
	}
	if lost(service.NeedsNodePort) && !hasNewNodePort(spec, was) {
		for _, p := range spec.Objects("ports") {
			delete(p, "nodePort")
		}
	}
	if lost(service.NeedsHealthCheck) {
		drop("healthCheckNodePort")
	}
	if lost(func(s tree.Tree) bool { return s.String("type") == service.TypeLoadBalancer }) {
		drop("allocateLoadBalancerNodePorts", "loadBalancerClass")
	}
	if lost(isExternal) {
		drop("externalTrafficPolicy")
	}
}
