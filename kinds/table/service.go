package table

import (
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// showServicePorts shows, for example, "80/TCP" or "80:30080/TCP,443/TCP".
func showServicePorts(b []byte, r *row, _ string) []byte {
	var ports []string
	r.json.At("spec.ports").Items(func(p jsontext.Value) bool {
		s := strconv.FormatInt(p.Field("port").Int(), 10)
		if n := p.Field("nodePort").Int(); n > 0 {
			s += ":" + strconv.FormatInt(n, 10)
		}
		ports = append(ports, s+"/"+p.Field("protocol").Text())
		return true
	})
	return appendOr(b, strings.Join(ports, ","), none)
}

func showServiceExternalIPs(b []byte, r *row, _ string) []byte {
	external := texts(r.json.At("spec.externalIPs"), "ip")
	switch r.json.At("spec.type").Text() {
	case "ClusterIP", "NodePort":
		return appendOr(b, strings.Join(external, ","), none)
	case "LoadBalancer":
		return appendOr(b, strings.Join(append(balancerAddresses(r), external...), ","), "<pending>")
	case "ExternalName":
		return jsontext.AppendString(b, r.json.At("spec.externalName").Text())
	}
	return jsontext.AppendString(b, unknown)
}

func showBalancerAddresses(b []byte, r *row, _ string) []byte {
	return jsontext.AppendString(b, strings.Join(balancerAddresses(r), ","))
}

func balancerAddresses(r *row) (addresses []string) {
	r.json.At("status.loadBalancer.ingress").Items(func(i jsontext.Value) bool {
		address := i.Field("ip").Text()
		if address == "" {
			address = i.Field("hostname").Text()
		}
		if address != "" {
			addresses = append(addresses, address)
		}
		return true
	})
	slices.Sort(addresses)
	return slices.Compact(addresses)
}
