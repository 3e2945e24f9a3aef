package present

import (
	"slices"
	"strconv"
	"strings"
)

func showServicePorts(b []byte, r *row, _ string) []byte {
	var ports []string
	r.json.at("spec.ports").items(func(p value) bool {
		s := strconv.FormatInt(p.field("port").number(), 10)
		if n := p.field("nodePort").number(); n > 0 {
			s += ":" + strconv.FormatInt(n, 10)
		}
		ports = append(ports, s+"/"+p.field("protocol").text())
		return true
	})
	return appendOr(b, strings.Join(ports, ","), none)
}

func showServiceExternalIPs(b []byte, r *row, _ string) []byte {
	external := r.json.at("spec.externalIPs").texts("ip")
	switch r.json.at("spec.type").text() {
	case "ClusterIP", "NodePort":
		return appendOr(b, strings.Join(external, ","), none)
	case "LoadBalancer":
		return appendOr(b, strings.Join(append(balancerAddresses(r), external...), ","), "<pending>")
	case "ExternalName":
		return appendText(b, r.json.at("spec.externalName").text())
	}
	return appendText(b, unknown)
}

func showBalancerAddresses(b []byte, r *row, _ string) []byte {
	return appendText(b, strings.Join(balancerAddresses(r), ","))
}

// balancerAddresses are where a load balancer can be reached, sorted.
func balancerAddresses(r *row) (addresses []string) {
	r.json.at("status.loadBalancer.ingress").items(func(i value) bool {
		address := i.field("ip").text()
		if address == "" {
			address = i.field("hostname").text()
		}
		if address != "" {
			addresses = append(addresses, address)
		}
		return true
	})
	slices.Sort(addresses)
	return slices.Compact(addresses)
}
