package service

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// The types of a Service.
const (
	TypeClusterIP    = "ClusterIP"
	TypeNodePort     = "NodePort"
	TypeLoadBalancer = "LoadBalancer"
	TypeExternalName = "ExternalName"
)

// NoClusterIP in place of an address makes a Service headless.
const NoClusterIP = "None"

// NeedsClusterIP reports whether a Service of this spec has the fields of a cluster IP; a headless one
// has them too, with "None".
func NeedsClusterIP(spec tree.Tree) bool {
	return spec.String("type") != TypeExternalName
}

// NeedsNodePort reports whether the ports of a Service of this spec may have node ports.
func NeedsNodePort(spec tree.Tree) bool {
	t := spec.String("type")
	return t == TypeNodePort || t == TypeLoadBalancer
}

// AllocatesNodePorts reports whether ports without a node port get one.
func AllocatesNodePorts(spec tree.Tree) bool {
	switch spec.String("type") {
	case TypeNodePort:
		return true
	case TypeLoadBalancer:
		return spec.Bool("allocateLoadBalancerNodePorts")
	}
	return false
}

// NeedsHealthCheck reports whether a Service of this spec has a node port for health checks.
func NeedsHealthCheck(spec tree.Tree) bool {
	return spec.String("type") == TypeLoadBalancer && spec.String("externalTrafficPolicy") == "Local"
}

// IsHeadless reports whether a Service has no cluster IP.
func IsHeadless(spec tree.Tree) bool {
	ips := spec.Strings("clusterIPs")
	return len(ips) == 1 && ips[0] == NoClusterIP
}

// NodePorts lists the node ports in the ports of a spec, whatever its type.
func NodePorts(spec tree.Tree) []int64 {
	var ports []int64
	for _, p := range spec.Objects("ports") {
		if n, _ := p.Int("nodePort"); n != 0 {
			ports = append(ports, n)
		}
	}
	return ports
}

// HealthCheckNodePort is the node port for health checks; 0 if a Service of this spec has none.
func HealthCheckNodePort(spec tree.Tree) int64 {
	if !NeedsHealthCheck(spec) {
		return 0
	}
	n, _ := spec.Int("healthCheckNodePort")
	return n
}
