package quota

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/tree"
)

var one = amount.Of(1)

func serviceEvaluator() *evaluator {
	names := []string{"services.nodeports", "services.loadbalancers"}
	return &evaluator{
		counts: []string{"count/services", "services"},
		limits: func(name string) bool { return slices.Contains(names, name) },
		usage:  serviceUsage,
		checks: func(subresource string, _, _ tree.Tree) bool { return subresource == "" },
	}
}

// serviceUsage counts one node port per requested port, because the ports are allocated later.
func serviceUsage(service tree.Tree) amount.List {
	spec := service.Object("spec")
	ports := spec.Objects("ports")
	nodePorts, balancers := 0, 0
	switch spec.String("type") {
	case "NodePort":
		nodePorts = len(ports)
	case "LoadBalancer":
		balancers, nodePorts = 1, len(ports)
		if allocates, set := spec["allocateLoadBalancerNodePorts"].(bool); set && !allocates {
			nodePorts = 0
			for _, p := range ports {
				if n, _ := p.Int("nodePort"); n != 0 {
					nodePorts++
				}
			}
		}
	}
	return amount.List{{Name: "services.nodeports", Amount: amount.Of(int64(nodePorts))}, {Name: "services.loadbalancers", Amount: amount.Of(int64(balancers))}}
}
