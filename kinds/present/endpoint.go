package present

import "net"

// maxEndpoints is how many addresses, or ports, a table shows.
const maxEndpoints = 3

// showEndpoints lists the ready addresses of Endpoints with each port of their subset.
func showEndpoints(b []byte, r *row, _ string) []byte {
	var list []string
	r.json.field("subsets").items(func(subset value) bool {
		addresses := subset.field("addresses").texts("ip")
		if subset.field("ports").count() == 0 {
			list = append(list, addresses...)
			return true
		}
		subset.field("ports").items(func(p value) bool {
			for _, address := range addresses {
				list = append(list, net.JoinHostPort(address, p.field("port").plain()))
			}
			return true
		})
		return true
	})
	if r.json.field("subsets").count() == 0 {
		return appendText(b, none)
	}
	return appendText(b, joinAtMost(list, maxEndpoints, len(list), ","))
}

// showSlicePorts lists the ports of an EndpointSlice: by number, else by name.
func showSlicePorts(b []byte, r *row, _ string) []byte {
	var list []string
	r.json.field("ports").items(func(p value) bool {
		port := "*"
		switch number, name := p.field("port"), p.field("name"); {
		case number.exists():
			port = number.plain()
		case name.exists():
			port = name.text()
		}
		list = append(list, port)
		return true
	})
	return appendOr(b, joinAtMost(list, maxEndpoints, len(list), ","), unset)
}

func showSliceAddresses(b []byte, r *row, _ string) []byte {
	var list []string
	r.json.field("endpoints").items(func(e value) bool {
		list = append(list, e.field("addresses").texts("ip")...)
		return true
	})
	return appendOr(b, joinAtMost(list, maxEndpoints, len(list), ","), unset)
}
