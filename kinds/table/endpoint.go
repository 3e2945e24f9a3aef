package table

import (
	"cmp"
	"net"

	"github.com/troupe-api/troupe/kinds/jsonpath"
)

const maxEndpoints = 3

// showEndpoints lists ready addresses with the ports of their subset, as in
// "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 4 more...".
func showEndpoints(r *row, _ string) string {
	var list []string
	for subset := range r.json.Field("subsets").Items {
		addresses := texts(subset.Field("addresses"), "ip")
		if subset.Field("ports").Count() == 0 {
			list = append(list, addresses...)
			continue
		}
		for p := range subset.Field("ports").Items {
			for _, address := range addresses {
				list = append(list, net.JoinHostPort(address, jsonpath.Text(p.Field("port"))))
			}
		}
	}
	if r.json.Field("subsets").Count() == 0 {
		return none
	}
	return joinAtMost(list, maxEndpoints, len(list), ",")
}

// showSlicePorts lists the ports of an EndpointSlice by number or name. A port without either
// represents all ports and is shown as "*". A slice without ports is shown as "<unset>".
func showSlicePorts(r *row, _ string) string {
	var list []string
	for p := range r.json.Field("ports").Items {
		port := "*"
		switch number, name := p.Field("port"), p.Field("name"); {
		case number.Exists():
			port = jsonpath.Text(number)
		case name.Exists():
			port = name.Text()
		}
		list = append(list, port)
	}
	return cmp.Or(joinAtMost(list, maxEndpoints, len(list), ","), unset)
}

func showSliceAddresses(r *row, _ string) string {
	var list []string
	for e := range r.json.Field("endpoints").Items {
		list = append(list, texts(e.Field("addresses"), "ip")...)
	}
	return cmp.Or(joinAtMost(list, maxEndpoints, len(list), ","), unset)
}
