package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ValidateUpdate keeps what an outside party was told already: the controller chosen by
// loadBalancerClass owns the balancer and would not clean up after a change, and the balancer polls
// the health check port that it was configured with.
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

// serviceAnnotations are the annotations that configure a Service, in the spelling of a profile. They came
// before the fields of the same purpose and are still read by proxies and cloud controllers.
type serviceAnnotations struct{ hints, mode string }
