package service

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

const (
	TypeClusterIP    = "ClusterIP"
	TypeNodePort     = "NodePort"
	TypeLoadBalancer = "LoadBalancer"
	TypeExternalName = "ExternalName"
)

// NoClusterIP is the cluster IP of a headless Service.
const NoClusterIP = "None"

// NeedsClusterIP reports whether a Service has cluster IP fields. In a headless Service, they are
// "None".
func NeedsClusterIP(spec tree.Tree) bool {
	return spec.String("type") != TypeExternalName
}

// NeedsNodePort reports whether a Service's ports may have node ports.
func NeedsNodePort(spec tree.Tree) bool {
	t := spec.String("type")
	return t == TypeNodePort || t == TypeLoadBalancer
}

// AllocatesNodePorts reports whether the server assigns missing node ports.
func AllocatesNodePorts(spec tree.Tree) bool {
	switch spec.String("type") {
	case TypeNodePort:
		return true
	case TypeLoadBalancer:
		return spec.Bool("allocateLoadBalancerNodePorts")
	}
	return false
}

// NeedsHealthCheck reports whether a Service has a health check node port.
func NeedsHealthCheck(spec tree.Tree) bool {
	return spec.String("type") == TypeLoadBalancer && spec.String("externalTrafficPolicy") == "Local"
}

// IsHeadless reports whether a Service has no cluster IP.
func IsHeadless(spec tree.Tree) bool {
	ips := spec.Strings("clusterIPs")
	return len(ips) == 1 && ips[0] == NoClusterIP
}

// NodePorts returns the node ports in a spec, regardless of its type.
func NodePorts(spec tree.Tree) []int64 {
	var ports []int64
	for _, p := range spec.Objects("ports") {
		if n, _ := p.Int("nodePort"); n != 0 {
			ports = append(ports, n)
		}
	}
	return ports
}

// HealthCheckNodePort returns the health check node port, or 0.
func HealthCheckNodePort(spec tree.Tree) int64 {
	if !NeedsHealthCheck(spec) {
		return 0
	}
	n, _ := spec.Int("healthCheckNodePort")
	return n
}
