package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func endpointsRules() schema.Rules { return schema.Rules{Validate: validateEndpoints} }

func validateEndpoints(obj schema.Tree, faults *schema.Faults) {
	for i, s := range rules.Trees(obj, "subsets") {
		at := rules.IndexPath("subsets", i)
		ready, others, ports := rules.Trees(s, "addresses"), rules.Trees(s, "notReadyAddresses"), rules.Trees(s, "ports")
		if len(ready)+len(others) == 0 {
			faults.Required(at, "must specify `addresses` or `notReadyAddresses`")
		}
		for j, a := range ready {
			validateEndpointAddress(a, rules.IndexPath(at+".addresses", j), faults)
		}
		for j, a := range others {
			validateEndpointAddress(a, rules.IndexPath(at+".notReadyAddresses", j), faults)
		}
		for j, p := range ports {
			validateEndpointsPort(p, rules.IndexPath(at+".ports", j), len(ports) > 1, faults)
		}
	}
}

func validateEndpointAddress(a schema.Tree, at string, faults *schema.Faults) {
	validateEndpointIP(rules.String(a, "ip"), at+".ip", faults)
	validateFormat(a, "hostname", at, faults, rules.Label)
	validateFormat(a, "nodeName", at, faults, rules.Subdomain)
}

func validateEndpointsPort(p schema.Tree, at string, named bool, faults *schema.Faults) {
	if named && rules.String(p, "name") == "" {
		faults.Required(at + ".name")
	}
	validateFormat(p, "name", at, faults, rules.Label)
	port, _ := rules.Int(p, "port")
	validatePortNumber(port, at+".port", faults)
	if rules.Has(p, "appProtocol") {
		validateQualifiedName(rules.String(p, "appProtocol"), at+".appProtocol", faults)
	}
}
