package field

import (
	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// LoadBalancerStatus checks the status of a load balancer, of a Service or of an Ingress. An address as a
// host name passes the rules of names but would be published in DNS as an alias.
func LoadBalancerStatus(status tree.Tree, path string, faults *schema.Faults) {
	for i, in := range status.Objects("ingress") {
		at := tree.IndexPath(path+".ingress", i)
		Format(in, "ip", at, faults, rules.IP)
		Format(in, "hostname", at, faults, rules.Subdomain)
		if host := in.String("hostname"); IsIP(host) {
			faults.Invalid(at+".hostname", host, NotAnIP)
		}
	}
}

// NotAnIP is the message for an address where a name is expected.
const NotAnIP = "must be a DNS name, not an IP address"

// IsIP reports whether s is an IP address.
func IsIP(s string) bool {
	_, err := address.Parse(s)
	return err == nil
}
