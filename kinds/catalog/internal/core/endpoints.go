package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func endpointsRules() schema.Rules { return schema.Rules{Validate: validateEndpoints} }

func validateEndpoints(obj tree.Tree, faults *schema.Faults) {
	for i, s := range obj.Objects("subsets") {
		at := tree.IndexPath("subsets", i)
		ready, others, ports := s.Objects("addresses"), s.Objects("notReadyAddresses"), s.Objects("ports")
		for j, a := range ready {
			validateEndpointAddress(a, tree.IndexPath(at+".addresses", j), faults)
		}
		for j, a := range others {
			validateEndpointAddress(a, tree.IndexPath(at+".notReadyAddresses", j), faults)
		}
		for j, p := range ports {
			validateEndpointsPort(p, tree.IndexPath(at+".ports", j), len(ports) > 1, faults)
		}
	}
}

func validateEndpointAddress(a tree.Tree, at string, faults *schema.Faults) {
	field.EndpointIP(a.String("ip"), at+".ip", faults)
	field.Format(a, "hostname", at, faults, rules.Label)
	field.Format(a, "nodeName", at, faults, rules.Subdomain)
}

func validateEndpointsPort(p tree.Tree, at string, named bool, faults *schema.Faults) {
	if named && p.String("name") == "" {
		faults.Required(at + ".name")
	}
	field.Format(p, "name", at, faults, rules.Label)
	port, _ := p.Int("port")
	field.PortNumber(port, at+".port", faults)
	if p.Has("appProtocol") {
		field.QualifiedName(p.String("appProtocol"), at+".appProtocol", faults)
	}
}
