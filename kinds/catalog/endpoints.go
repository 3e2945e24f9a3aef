package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func endpointsRules() schema.Rules { return schema.Rules{Validate: validateEndpoints} }

func validateEndpoints(obj schema.Tree, faults *schema.Faults) {
	for i, s := range rules.Trees(obj, "subsets") {
		at := rules.At("subsets", i)
		ready, others, ports := rules.Trees(s, "addresses"), rules.Trees(s, "notReadyAddresses"), rules.Trees(s, "ports")
		if len(ready)+len(others) == 0 {
			faults.Required(at, "must specify `addresses` or `notReadyAddresses`")
		}
		for j, a := range ready {
			validateEndpointAddress(a, rules.At(at+".addresses", j), faults)
		}
		for j, a := range others {
			validateEndpointAddress(a, rules.At(at+".notReadyAddresses", j), faults)
		}
		for j, p := range ports {
			validateEndpointsPort(p, rules.At(at+".ports", j), len(ports) > 1, faults)
		}
	}
}

func validateEndpointAddress(a schema.Tree, at string, faults *schema.Faults) {
	validateEndpointIP(rules.Text(a, "ip"), at+".ip", faults)
	formatted(a, "hostname", at, faults, rules.Label)
	formatted(a, "nodeName", at, faults, rules.Subdomain)
}

func validateEndpointsPort(p schema.Tree, at string, named bool, faults *schema.Faults) {
	if named && rules.Text(p, "name") == "" {
		faults.Required(at + ".name")
	}
	formatted(p, "name", at, faults, rules.Label)
	port, _ := rules.Int(p, "port")
	validatePortNumber(port, at+".port", faults)
	if rules.Has(p, "appProtocol") {
		validateQualified(rules.Text(p, "appProtocol"), at+".appProtocol", faults)
	}
}
