package warning

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// LoadBalancerStatus returns a function that warns about load balancer addresses in the status.
func LoadBalancerStatus(a Addresses) func(obj, old tree.Tree) []string {
	return func(obj, _ tree.Tree) []string {
		list := obj.Object("status", "loadBalancer").List("ingress")
		return a.AppendObjectIPs(nil, list, At("", "status.loadBalancer.ingress"), "")
	}
}
