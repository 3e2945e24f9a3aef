package table

import (
	"net"

	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
)

const maxEndpoints = 3

// showEndpoints lists ready addresses with the ports of their subset, as in
// "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 4 more...".
func showEndpoints(b []byte, r *row, _ string) []byte {
	var list []string
	r.json.Field("subsets").Items(func(subset jsontext.Value) bool {
		addresses := texts(subset.Field("addresses"), "ip")
		if subset.Field("ports").Count() == 0 {
			list = append(list, addresses...)
			return true
		}
		subset.Field("ports").Items(func(p jsontext.Value) bool {
			for _, address := range addresses {
				list = append(list, net.JoinHostPort(address, jsonpath.Text(p.Field("port"))))
			}
			return true
		})
		return true
	})
	if r.json.Field("subsets").Count() == 0 {
		return jsontext.AppendString(b, none)
	}
	return jsontext.AppendString(b, joinAtMost(list, maxEndpoints, len(list), ","))
}

// showSlicePorts lists the ports of an EndpointSlice by number or name. A port with neither stands
// for all ports and shows "*". A slice without ports shows "<unset>".
func showSlicePorts(b []byte, r *row, _ string) []byte {
	var list []string
	r.json.Field("ports").Items(func(p jsontext.Value) bool {
		port := "*"
		switch number, name := p.Field("port"), p.Field("name"); {
		case number.Exists():
			port = jsonpath.Text(number)
		case name.Exists():
			port = name.Text()
		}
		list = append(list, port)
		return true
	})
	return appendOr(b, joinAtMost(list, maxEndpoints, len(list), ","), unset)
}

func showSliceAddresses(b []byte, r *row, _ string) []byte {
	var list []string
	r.json.Field("endpoints").Items(func(e jsontext.Value) bool {
		list = append(list, texts(e.Field("addresses"), "ip")...)
		return true
	})
	return appendOr(b, joinAtMost(list, maxEndpoints, len(list), ","), unset)
}
