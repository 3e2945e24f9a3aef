package catalog

import (
	"net/netip"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateLoadBalancerStatus checks the status of a load balancer, of a Service or of an Ingress.
func validateLoadBalancerStatus(status tree.Tree, path string, faults *schema.Faults) {
	for i, in := range status.Objects("ingress") {
		at := tree.IndexPath(path+".ingress", i)
		validateFormat(in, "ip", at, faults, rules.IP)
		validateFormat(in, "hostname", at, faults, rules.Subdomain)
		if host := in.String("hostname"); isIP(host) {
			faults.Invalid(at+".hostname", host, notAnIP)
		}
	}
}

const notAnIP = "must be a DNS name, not an IP address"

func isIP(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// validateServiceLoadBalancerStatus checks the status of a Service's load balancer, which only one of that type has.
func validateServiceLoadBalancerStatus(obj tree.Tree, path string, faults *schema.Faults) {
	status := obj.Object("status", "loadBalancer")
	if len(status.List("ingress")) > 0 && obj.Object("spec").String("type") != typeLoadBalancer {
		faults.Forbidden(path+".ingress", "may only be used when `spec.type` is 'LoadBalancer'")
		return
	}
	validateLoadBalancerStatus(status, path, faults)
	validateIPModes(status, path+".ingress", faults)
}

// validateIPModes checks how the addresses of a Service's load balancer work.
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
