package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateServiceLoadBalancerStatus checks status.loadBalancer, which only type LoadBalancer may have. An
// address left behind would make clients, such as DNS controllers, publish it for a Service that no longer
// answers there.
func validateServiceLoadBalancerStatus(obj tree.Tree, path string, faults *schema.Faults) {
	status := obj.Object("status", "loadBalancer")
	if len(status.List("ingress")) > 0 && obj.Object("spec").String("type") != service.TypeLoadBalancer {
		faults.Forbidden(path+".ingress", "may only be used when `spec.type` is 'LoadBalancer'")
		return
	}
	field.LoadBalancerStatus(status, path, faults)
	validateIPModes(status, path+".ingress", faults)
}

// validateIPModes checks the IP mode of each address of a load balancer. VIP says that packets arrive with
// the balancer's address as destination, so that a proxy may short-cut traffic inside the cluster; Proxy
// says that they do not, and traffic must pass the balancer. A mode without an IP (a host name) would mean
// nothing.
func validateIPModes(status tree.Tree, path string, faults *schema.Faults) {
	for i, in := range status.Objects("ingress") {
		at := tree.IndexPath(path, i) + ".ipMode"
		switch ip, mode, given := in.String("ip"), in.String("ipMode"), in.Has("ipMode"); {
		case ip != "" && !given:
			faults.Required(at, "must be specified when `ip` is set")
		case ip == "" && given:
			faults.Forbidden(at, "may not be specified when `ip` is not set")
		case given && mode != "Proxy" && mode != "VIP":
			faults.NotSupported(at, mode, []string{"Proxy", "VIP"})
		}
	}
}
