package core

import (
	"github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ValidateUpdate makes fields immutable if external components rely on them. loadBalancerClass
// selects the controller of the load balancer, and the load balancer probes healthCheckNodePort.
func (serviceStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	spec, was := obj.Object("spec"), old.Object("spec")
	validateClusterIPsUpdate(spec, was, faults)
	if spec.String("type") == service.TypeLoadBalancer && was.String("type") == service.TypeLoadBalancer &&
		!tree.SemanticEqual(spec["loadBalancerClass"], was["loadBalancerClass"]) {
		faults.Invalid("spec.loadBalancerClass", spec["loadBalancerClass"], "may not change once set")
	}
	if service.NeedsHealthCheck(spec) && service.NeedsHealthCheck(was) && !tree.SemanticEqual(spec["healthCheckNodePort"], was["healthCheckNodePort"]) {
		faults.Forbidden("spec.healthCheckNodePort", "field is immutable")
	}
}
