package table

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// showServicePorts shows, for example, "80/TCP" or "80:30080/TCP,443/TCP".
func showServicePorts(r *row, _ string) string {
	var ports []string
	for p := range r.json.At("spec.ports").Items {
		s := strconv.FormatInt(p.Field("port").Int(), 10)
		if n := p.Field("nodePort").Int(); n > 0 {
			s += ":" + strconv.FormatInt(n, 10)
		}
		ports = append(ports, s+"/"+p.Field("protocol").Text())
	}
	return cmp.Or(strings.Join(ports, ","), none)
}

func showServiceExternalIPs(r *row, _ string) string {
	external := texts(r.json.At("spec.externalIPs"), "ip")
	switch r.json.At("spec.type").Text() {
	case "ClusterIP", "NodePort":
		return cmp.Or(strings.Join(external, ","), none)
	case "LoadBalancer":
		return cmp.Or(strings.Join(append(balancerAddresses(r), external...), ","), "<pending>")
	case "ExternalName":
		return r.json.At("spec.externalName").Text()
	}
	return unknown
}

func showBalancerAddresses(r *row, _ string) string {
	return strings.Join(balancerAddresses(r), ",")
}

func balancerAddresses(r *row) (addresses []string) {
	for i := range r.json.At("status.loadBalancer.ingress").Items {
		address := cmp.Or(i.Field("ip").Text(), i.Field("hostname").Text())
		if address != "" {
			addresses = append(addresses, address)
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}
