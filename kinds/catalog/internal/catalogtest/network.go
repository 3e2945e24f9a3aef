package catalogtest

const (
	NoIP       = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
	NoCIDR     = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
	OutOfPorts = "must be between 1 and 65535, inclusive"
	Loopback   = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
)

// EndpointSliceJSON is an EndpointSlice of a type, with one endpoint.
func EndpointSliceJSON(kind, endpoint string) string {
	return `{"addressType":"` + kind + `","endpoints":[{` + endpoint + `}]}`
}

const OnePort = `"ports":[{"port":80}]`

const (
	Balancer            = `"type":"LoadBalancer",`
	OnlyLoadBalancerMsg = "Forbidden: may only be used when `type` is 'LoadBalancer'"
)

// IngressWithPath is an Ingress with one path.
func IngressWithPath(path string) string {
	return `{"spec":{"rules":[{"http":{"paths":[{` + path + `}]}}]}}`
}
