package catalog

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// The types of a Service.
const (
	typeClusterIP    = "ClusterIP"
	typeNodePort     = "NodePort"
	typeLoadBalancer = "LoadBalancer"
	typeExternalName = "ExternalName"
)

// noClusterIP stands for an address in a Service that is to have none.
const noClusterIP = "None"

func serviceRules(n *meta.Naming) schema.Rules {
	annotations := serviceAnnotations{
		hints:        n.Name("service.platform.io/topology-aware-hints"),
		mode:         n.Name("service.platform.io/topology-mode"),
		sourceRanges: n.Name("service.beta.platform.io/load-balancer-source-ranges"),
	}
	return schema.Rules{
		Default: defaultService,
		Prepare: prepareService,
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			annotations.validate(obj, faults)
			validateService(obj, faults)
			validateServiceBalancer(obj, "status.loadBalancer", faults)
			validateConditions(rules.Sub(obj, "status"), "status.conditions", faults)
		},
		ValidateUpdate: validateServiceUpdate,
		Warn:           annotations.warn,
	}
}

// ServiceNeedsClusterIP tells whether a Service of this spec has addresses, if only "None".
func ServiceNeedsClusterIP(spec schema.Tree) bool {
	return rules.Text(spec, "type") != typeExternalName
}

// ServiceNeedsNodePort tells whether the ports of a Service of this spec may be open on nodes.
func ServiceNeedsNodePort(spec schema.Tree) bool {
	t := rules.Text(spec, "type")
	return t == typeNodePort || t == typeLoadBalancer
}

// ServiceAllocatesNodePorts tells whether ports without a node port get one.
func ServiceAllocatesNodePorts(spec schema.Tree) bool {
	switch rules.Text(spec, "type") {
	case typeNodePort:
		return true
	case typeLoadBalancer:
		return rules.Flag(spec, "allocateLoadBalancerNodePorts")
	}
	return false
}

// ServiceNeedsHealthCheck tells whether a Service of this spec has a port for health checks on nodes.
func ServiceNeedsHealthCheck(spec schema.Tree) bool {
	return rules.Text(spec, "type") == typeLoadBalancer && rules.Text(spec, "externalTrafficPolicy") == "Local"
}

// ServiceIsHeadless tells whether a Service is to have no address of its own.
func ServiceIsHeadless(spec schema.Tree) bool {
	ips := rules.Texts(spec, "clusterIPs")
	return len(ips) == 1 && ips[0] == noClusterIP
}

// isExternal tells whether a Service can be reached from outside.
func isExternal(spec schema.Tree) bool {
	return ServiceNeedsNodePort(spec) || rules.Text(spec, "type") == typeClusterIP && len(rules.Items(spec, "externalIPs")) > 0
}

// affinitySeconds is how long clients stay with one Pod by default.
const affinitySeconds = int64(10800)

func defaultService(obj schema.Tree) {
	spec := rules.Grow(obj, "spec")
	switch rules.Text(spec, "sessionAffinity") {
	case "None":
		delete(spec, "sessionAffinityConfig")
	case "ClientIP":
		if !rules.Has(rules.Sub(spec, "sessionAffinityConfig", "clientIP"), "timeoutSeconds") {
			spec["sessionAffinityConfig"] = schema.Tree{"clientIP": schema.Tree{"timeoutSeconds": affinitySeconds}}
		}
	}
	for _, p := range rules.Trees(spec, "ports") {
		if p != nil && rules.Empty(p["targetPort"]) {
			port, _ := rules.Int(p, "port")
			p["targetPort"] = port
		}
	}
	if isExternal(spec) {
		setDefault(spec, "externalTrafficPolicy", "Cluster")
	}
	if ServiceNeedsClusterIP(spec) {
		setDefault(spec, "internalTrafficPolicy", "Cluster")
	}
	if rules.Text(spec, "type") == typeLoadBalancer {
		setDefault(spec, "allocateLoadBalancerNodePorts", true)
		for _, at := range rules.Trees(rules.Sub(obj, "status", "loadBalancer"), "ingress") {
			if rules.Text(at, "ip") != "" {
				setDefault(at, "ipMode", "VIP")
			}
		}
	}
}

// prepareService keeps status out of writes of the main resource, what was handed out in
// an update that leaves it out, and what no longer applies out of an update of the type.
func prepareService(obj, old schema.Tree) {
	spec := rules.Grow(obj, "spec")
	if old == nil {
		obj["status"] = schema.Tree{"loadBalancer": schema.Tree{}}
		if ip := rules.Text(spec, "clusterIP"); ip != "" && len(rules.Items(spec, "clusterIPs")) == 0 {
			spec["clusterIPs"] = []any{ip}
		}
		return
	}
	rules.Carry(obj, old, "status")
	was := rules.Sub(old, "spec")
	keepAllocated(spec, was)
	followClusterIP(spec, was)
	dropUnfit(spec, was)
	if rules.Text(spec, "type") != typeLoadBalancer && len(rules.Sub(old, "status", "loadBalancer")) > 0 {
		status := rules.Clone(rules.Sub(old, "status")).(schema.Tree)
		status["loadBalancer"] = schema.Tree{}
		obj["status"] = status
	}
}

// keepAllocated carries over addresses and ports that the client has left out: whoever
// sends the text of a create again changes nothing.
func keepAllocated(spec, was schema.Tree) {
	if ServiceNeedsClusterIP(spec) && ServiceNeedsClusterIP(was) {
		if rules.Text(spec, "clusterIP") == "" {
			rules.Carry(spec, was, "clusterIP")
		}
		if len(rules.Items(spec, "clusterIPs")) == 0 {
			rules.Carry(spec, was, "clusterIPs")
		}
	}
	if ServiceNeedsNodePort(spec) && ServiceNeedsNodePort(was) {
		keepNodePorts(spec, was)
	}
	if n, _ := rules.Int(spec, "healthCheckNodePort"); n == 0 && ServiceNeedsHealthCheck(spec) && ServiceNeedsHealthCheck(was) {
		rules.Carry(spec, was, "healthCheckNodePort")
	}
}

// keepNodePorts carries over node ports by the names of their ports, if no other port
// asks for them now.
func keepNodePorts(spec, was schema.Tree) {
	asked := nodePorts(spec)
	byName := map[string]int64{}
	for _, p := range rules.Trees(was, "ports") {
		byName[rules.Text(p, "name")], _ = rules.Int(p, "nodePort")
	}
	for _, p := range rules.Trees(spec, "ports") {
		n, _ := rules.Int(p, "nodePort")
		if had := byName[rules.Text(p, "name")]; p != nil && n == 0 && had != 0 && !slices.Contains(asked, had) {
			p["nodePort"] = had
		}
	}
}

// nodePorts are the node ports that a spec asks for.
func nodePorts(spec schema.Tree) []int64 {
	var ports []int64
	for _, p := range rules.Trees(spec, "ports") {
		if n, _ := rules.Int(p, "nodePort"); n != 0 {
			ports = append(ports, n)
		}
	}
	return ports
}

// newNodePorts tells whether one of the ports was not there before.
func newNodePorts(spec, was schema.Tree) bool {
	known := map[int64]bool{}
	for _, n := range nodePorts(was) {
		known[n] = true
	}
	return slices.ContainsFunc(nodePorts(spec), func(n int64) bool { return !known[n] })
}

// followClusterIP lets clusterIPs follow a change of clusterIP by a client that does not
// know clusterIPs.
func followClusterIP(spec, was schema.Tree) {
	ip := rules.Text(spec, "clusterIP")
	if ip == rules.Text(was, "clusterIP") || !rules.Equal(spec["clusterIPs"], was["clusterIPs"]) {
		return
	}
	if ip == "" {
		delete(spec, "clusterIPs")
		return
	}
	spec["clusterIPs"] = []any{ip}
}

// dropUnfit drops what a new type has no use for, if the client has not changed it.
func dropUnfit(spec, was schema.Tree) {
	drop := func(names ...string) {
		for _, name := range names {
			if rules.Equal(spec[name], was[name]) {
				delete(spec, name)
			}
		}
	}
	lost := func(needs func(schema.Tree) bool) bool { return needs(was) && !needs(spec) }
	if lost(ServiceNeedsClusterIP) {
		if rules.Equal(spec["clusterIP"], was["clusterIP"]) && rules.Equal(spec["clusterIPs"], was["clusterIPs"]) {
			drop("clusterIP", "clusterIPs")
		}
		drop("ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy")
	}
	if lost(ServiceNeedsNodePort) && !newNodePorts(spec, was) {
		for _, p := range rules.Trees(spec, "ports") {
			delete(p, "nodePort")
		}
	}
	if lost(ServiceNeedsHealthCheck) {
		drop("healthCheckNodePort")
	}
	if lost(func(s schema.Tree) bool { return rules.Text(s, "type") == typeLoadBalancer }) {
		drop("allocateLoadBalancerNodePorts", "loadBalancerClass")
	}
	if lost(isExternal) {
		drop("externalTrafficPolicy")
	}
}
