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

// NoClusterIP stands for an address in a Service that is to have none.
const NoClusterIP = "None"

// NeedsClusterIP tells whether a Service of this spec has addresses, if only "None".
func NeedsClusterIP(spec tree.Tree) bool {
	return spec.String("type") != TypeExternalName
}

// NeedsNodePort tells whether the ports of a Service of this spec may be open on nodes.
func NeedsNodePort(spec tree.Tree) bool {
	t := spec.String("type")
	return t == TypeNodePort || t == TypeLoadBalancer
}

// AllocatesNodePorts tells whether ports without a node port get one.
func AllocatesNodePorts(spec tree.Tree) bool {
	switch spec.String("type") {
	case TypeNodePort:
		return true
	case TypeLoadBalancer:
		return spec.Bool("allocateLoadBalancerNodePorts")
	}
	return false
}

// NeedsHealthCheck tells whether a Service of this spec has a port for health checks on nodes.
func NeedsHealthCheck(spec tree.Tree) bool {
	return spec.String("type") == TypeLoadBalancer && spec.String("externalTrafficPolicy") == "Local"
}

// IsHeadless tells whether a Service is to have no address of its own.
func IsHeadless(spec tree.Tree) bool {
	ips := spec.Strings("clusterIPs")
	return len(ips) == 1 && ips[0] == NoClusterIP
}
