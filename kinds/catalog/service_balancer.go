package catalog

import (
	"net/netip"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// validateBalancer checks the status of a load balancer, of a Service or of an Ingress.
func validateBalancer(status schema.Tree, path string, faults *schema.Faults) {
	for i, in := range rules.Trees(status, "ingress") {
		at := rules.At(path+".ingress", i)
		formatted(in, "ip", at, faults, rules.IP)
		formatted(in, "hostname", at, faults, rules.Subdomain)
		if host := rules.Text(in, "hostname"); isIP(host) {
			faults.Invalid(at+".hostname", host, notAnIP)
		}
	}
}

const notAnIP = "must be a DNS name, not an IP address"

func isIP(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// validateServiceBalancer checks the status of a Service's load balancer, which only one of that type has.
func validateServiceBalancer(obj schema.Tree, path string, faults *schema.Faults) {
	status := rules.Sub(obj, "status", "loadBalancer")
	if len(rules.Items(status, "ingress")) > 0 && rules.Text(rules.Sub(obj, "spec"), "type") != typeLoadBalancer {
		faults.Forbidden(path+".ingress", "may only be used when `spec.type` is 'LoadBalancer'")
		return
	}
	validateBalancer(status, path, faults)
	validateIPModes(status, path+".ingress", faults)
}

// validateIPModes checks how the addresses of a Service's load balancer work.
func validateIPModes(status schema.Tree, path string, faults *schema.Faults) {
	for i, in := range rules.Trees(status, "ingress") {
		at := rules.At(path, i) + ".ipMode"
		switch ip, mode := rules.Text(in, "ip"), rules.Text(in, "ipMode"); {
		case ip != "" && mode == "":
			faults.Required(at, "must be specified when `ip` is set")
		case ip == "" && mode != "":
			faults.Forbidden(at, "may not be specified when `ip` is not set")
		case mode != "" && mode != "Proxy" && mode != "VIP":
			faults.NotSupported(at, mode, []string{"Proxy", "VIP"})
		}
	}
}
