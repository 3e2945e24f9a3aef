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
		hints:        n.Translate("service.platform.io/topology-aware-hints"),
		mode:         n.Translate("service.platform.io/topology-mode"),
		sourceRanges: n.Translate("service.beta.platform.io/load-balancer-source-ranges"),
	}
	return schema.Rules{
		Default: defaultService,
		Prepare: prepareService,
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			annotations.validate(obj, faults)
			validateService(obj, faults)
			validateServiceLoadBalancerStatus(obj, "status.loadBalancer", faults)
			validateConditions(rules.Nested(obj, "status"), "status.conditions", faults)
		},
		ValidateUpdate: validateServiceUpdate,
		Warn:           annotations.warn,
	}
}

// ServiceNeedsClusterIP tells whether a Service of this spec has addresses, if only "None".
func ServiceNeedsClusterIP(spec schema.Tree) bool {
	return rules.String(spec, "type") != typeExternalName
}

// ServiceNeedsNodePort tells whether the ports of a Service of this spec may be open on nodes.
func ServiceNeedsNodePort(spec schema.Tree) bool {
	t := rules.String(spec, "type")
	return t == typeNodePort || t == typeLoadBalancer
}

// ServiceAllocatesNodePorts tells whether ports without a node port get one.
func ServiceAllocatesNodePorts(spec schema.Tree) bool {
	switch rules.String(spec, "type") {
	case typeNodePort:
		return true
	case typeLoadBalancer:
		return rules.Bool(spec, "allocateLoadBalancerNodePorts")
	}
	return false
}

// ServiceNeedsHealthCheck tells whether a Service of this spec has a port for health checks on nodes.
func ServiceNeedsHealthCheck(spec schema.Tree) bool {
	return rules.String(spec, "type") == typeLoadBalancer && rules.String(spec, "externalTrafficPolicy") == "Local"
}

// ServiceIsHeadless tells whether a Service is to have no address of its own.
func ServiceIsHeadless(spec schema.Tree) bool {
	ips := rules.Strings(spec, "clusterIPs")
	return len(ips) == 1 && ips[0] == noClusterIP
}

// isExternal tells whether a Service can be reached from outside.
func isExternal(spec schema.Tree) bool {
	return ServiceNeedsNodePort(spec) || rules.String(spec, "type") == typeClusterIP && len(rules.Items(spec, "externalIPs")) > 0
}

// affinitySeconds is how long clients stay with one Pod by default.
const affinitySeconds = int64(10800)

func defaultService(obj schema.Tree) {
	spec := rules.EnsureNested(obj, "spec")
	switch rules.String(spec, "sessionAffinity") {
	case "None":
		delete(spec, "sessionAffinityConfig")
	case "ClientIP":
		if !rules.Has(rules.Nested(spec, "sessionAffinityConfig", "clientIP"), "timeoutSeconds") {
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
		setIfEmpty(spec, "externalTrafficPolicy", "Cluster")
	}
	if ServiceNeedsClusterIP(spec) {
		setIfEmpty(spec, "internalTrafficPolicy", "Cluster")
	}
	if rules.String(spec, "type") == typeLoadBalancer {
		setIfEmpty(spec, "allocateLoadBalancerNodePorts", true)
		for _, at := range rules.Trees(rules.Nested(obj, "status", "loadBalancer"), "ingress") {
			if rules.String(at, "ip") != "" {
				setIfEmpty(at, "ipMode", "VIP")
			}
		}
	}
}

// prepareService keeps status out of writes of the main resource, what was handed out in
// an update that leaves it out, and what no longer applies out of an update of the type.
func prepareService(obj, old schema.Tree) {
	spec := rules.EnsureNested(obj, "spec")
	if old == nil {
		obj["status"] = schema.Tree{"loadBalancer": schema.Tree{}}
		if ip := rules.String(spec, "clusterIP"); ip != "" && len(rules.Items(spec, "clusterIPs")) == 0 {
			spec["clusterIPs"] = []any{ip}
		}
		return
	}
	rules.CopyField(obj, old, "status")
	was := rules.Nested(old, "spec")
	patchAllocatedValues(spec, was)
	normalizeClusterIPs(spec, was)
	dropTypeDependentFields(spec, was)
	if rules.String(spec, "type") != typeLoadBalancer && len(rules.Nested(old, "status", "loadBalancer")) > 0 {
		status := rules.Clone(rules.Nested(old, "status")).(schema.Tree)
		status["loadBalancer"] = schema.Tree{}
		obj["status"] = status
	}
}

// patchAllocatedValues carries over addresses and ports that the client has left out: whoever
// sends the text of a create again changes nothing.
func patchAllocatedValues(spec, was schema.Tree) {
	if ServiceNeedsClusterIP(spec) && ServiceNeedsClusterIP(was) {
		if rules.String(spec, "clusterIP") == "" {
			rules.CopyField(spec, was, "clusterIP")
		}
		if len(rules.Items(spec, "clusterIPs")) == 0 {
			rules.CopyField(spec, was, "clusterIPs")
		}
	}
	if ServiceNeedsNodePort(spec) && ServiceNeedsNodePort(was) {
		patchNodePorts(spec, was)
	}
	if n, _ := rules.Int(spec, "healthCheckNodePort"); n == 0 && ServiceNeedsHealthCheck(spec) && ServiceNeedsHealthCheck(was) {
		rules.CopyField(spec, was, "healthCheckNodePort")
	}
}

// patchNodePorts carries over node ports by the names of their ports, if no other port
// asks for them now.
func patchNodePorts(spec, was schema.Tree) {
	asked := nodePorts(spec)
	byName := map[string]int64{}
	for _, p := range rules.Trees(was, "ports") {
		byName[rules.String(p, "name")], _ = rules.Int(p, "nodePort")
	}
	for _, p := range rules.Trees(spec, "ports") {
		n, _ := rules.Int(p, "nodePort")
		if had := byName[rules.String(p, "name")]; p != nil && n == 0 && had != 0 && !slices.Contains(asked, had) {
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

// hasNewNodePort tells whether one of the ports was not there before.
func hasNewNodePort(spec, was schema.Tree) bool {
	known := map[int64]bool{}
	for _, n := range nodePorts(was) {
		known[n] = true
	}
	return slices.ContainsFunc(nodePorts(spec), func(n int64) bool { return !known[n] })
}

// normalizeClusterIPs lets clusterIPs follow a change of clusterIP by a client that does not
// know clusterIPs.
func normalizeClusterIPs(spec, was schema.Tree) {
	ip := rules.String(spec, "clusterIP")
	if ip == rules.String(was, "clusterIP") || !rules.SemanticEqual(spec["clusterIPs"], was["clusterIPs"]) {
		return
	}
	if ip == "" {
		delete(spec, "clusterIPs")
		return
	}
	spec["clusterIPs"] = []any{ip}
}

// dropTypeDependentFields drops what a new type has no use for, if the client has not changed it.
func dropTypeDependentFields(spec, was schema.Tree) {
	drop := func(names ...string) {
		for _, name := range names {
			if rules.SemanticEqual(spec[name], was[name]) {
				delete(spec, name)
			}
		}
	}
	lost := func(needs func(schema.Tree) bool) bool { return needs(was) && !needs(spec) }
	if lost(ServiceNeedsClusterIP) {
		if rules.SemanticEqual(spec["clusterIP"], was["clusterIP"]) && rules.SemanticEqual(spec["clusterIPs"], was["clusterIPs"]) {
			drop("clusterIP", "clusterIPs")
		}
		drop("ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy")
	}
	if lost(ServiceNeedsNodePort) && !hasNewNodePort(spec, was) {
		for _, p := range rules.Trees(spec, "ports") {
			delete(p, "nodePort")
		}
	}
	if lost(ServiceNeedsHealthCheck) {
		drop("healthCheckNodePort")
	}
	if lost(func(s schema.Tree) bool { return rules.String(s, "type") == typeLoadBalancer }) {
		drop("allocateLoadBalancerNodePorts", "loadBalancerClass")
	}
	if lost(isExternal) {
		drop("externalTrafficPolicy")
	}
}
