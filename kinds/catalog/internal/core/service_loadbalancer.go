package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateServiceLoadBalancerStatus checks status.loadBalancer, which only type LoadBalancer may have.
func validateServiceLoadBalancerStatus(obj tree.Tree, path string, faults *schema.Faults) {
	status := obj.Object("status", "loadBalancer")
	if len(status.List("ingress")) > 0 && obj.Object("spec").String("type") != service.TypeLoadBalancer {
		faults.Forbidden(path+".ingress", "may only be used when `spec.type` is 'LoadBalancer'")
		return
	}
	field.LoadBalancerStatus(status, path, faults)
	validateIPModes(status, path+".ingress", faults)
}

// validateIPModes checks the IP mode of each address of a load balancer.
func validateIPModes(status tree.Tree, path string, faults *schema.Faults) {
	for i, in := range status.Objects("ingress") {
		at := tree.IndexPath(path, i) + ".ipMode"
		switch ip, mode := in.String("ip"), in.String("ipMode"); {
		case ip != "" && mode == "":
			faults.Required(at, "must be specified when `ip` is set")
		case ip == "" && mode != "":
			faults.Forbidden(at, "may not be specified when `ip` is not set")
		case mode != "" && mode != "Proxy" && mode != "VIP":
			faults.NotSupported(at, mode, []string{"Proxy", "VIP"})
		}
	}
}
