package core

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// serviceStrategy applies the rules that depend only on the Service. The allocators in
// actors/allocation assign addresses and node ports.
type serviceStrategy struct{ schema.AlwaysWarns }

func isExternal(spec tree.Tree) bool {
	return service.NeedsNodePort(spec) || spec.String("type") == service.TypeClusterIP && len(spec.List("externalIPs")) > 0
}

// affinitySeconds is the default timeout of session affinity, three hours.
const affinitySeconds = int64(10800)

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
	// internalTrafficPolicy applies to cluster IPs, which an ExternalName Service lacks. As in
	// kube-apiserver, it also applies to headless Services.
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

// Prepare discards the client's status. An update keeps the allocated addresses and ports that it
// omits. A type change drops the fields of the old type. A Service that is no longer a load
// balancer immediately loses its status addresses, because the cloud controller releases them. The
// old status is cloned, because stored objects are shared.
func (serviceStrategy) Prepare(obj, old tree.Tree) {
	spec := obj.EnsureObject("spec")
	if spec.String("type") == service.TypeExternalName && slices.Contains([]string{"Cluster", "Local"}, spec.String("internalTrafficPolicy")) {
		delete(spec, "internalTrafficPolicy") // it applies only to cluster IPs
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

// patchAllocatedValues copies addresses and ports that the client omitted. Otherwise the update
// would release the address and break connections.
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

// patchNodePorts copies the old node ports, unless the update requests the same node port for
// another port. It matches ports by name. A port may be unnamed only if its Service has no other
// ports.
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

// hasNewNodePort reports whether spec has a node port that the old spec lacks. If the type has no
// node ports, new node ports are errors, whereas old ones are dropped.
func hasNewNodePort(spec, was tree.Tree) bool {
	known := map[int64]bool{}
	for _, n := range service.NodePorts(was) {
		known[n] = true
	}
	return slices.ContainsFunc(service.NodePorts(spec), func(n int64) bool { return !known[n] })
}

// normalizeClusterIPs updates clusterIPs if a client without dual-stack support changes only
// clusterIP and sends the list back unchanged.
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

// dropTypeDependentFields drops fields that the new type lacks, unless the client changed them.
// Otherwise a user who changes the type would have to remove fields that the server set. Validation
// rejects changed fields.
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
