package podsecurity

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// hostNamespaces forbids host namespaces, because they expose the node's processes and traffic.
func hostNamespaces(p *pod) (reason, detail string) {
	var shared []string
	for _, field := range [...]string{"hostNetwork", "hostPID", "hostIPC"} {
		if p.spec.Bool(field) {
			shared = append(shared, field+"=true")
		}
	}
	if len(shared) == 0 {
		return "", ""
	}
	return "host namespaces", strings.Join(shared, ", ")
}

// hostPorts forbids host ports, because they could take the ports of node services or bypass
// network policies.
func hostPorts(p *pod) (reason, detail string) {
	var ports []string
	bad := p.containersThat(func(c container) bool {
		before := len(ports)
		for _, port := range c.fields.Objects("ports") {
			if n, _ := port.Int("hostPort"); n != 0 {
				ports = append(ports, strconv.FormatInt(n, 10))
			}
		}
		return len(ports) > before
	})
	if len(bad) == 0 {
		return "", ""
	}
	ports = sortedSet(ports)
	return "hostPort", containersText(bad) + plural(" uses ", " use ", len(bad)) +
		plural("hostPort ", "hostPorts ", len(ports)) + strings.Join(ports, ", ")
}

// hostProbes forbids probes and lifecycle handlers with a host, because the node would send those
// requests from inside the network perimeter.
func hostProbes(p *pod) (reason, detail string) {
	var hosts []string
	bad := p.containersThat(func(c container) bool {
		before := len(hosts)
		for _, probe := range [...]string{"livenessProbe", "readinessProbe", "startupProbe"} {
			hosts = appendHosts(hosts, c.fields.Object(probe))
		}
		if lifecycle := c.fields.Object("lifecycle"); lifecycle != nil {
			hosts = appendHosts(hosts, lifecycle.Object("postStart"))
			hosts = appendHosts(hosts, lifecycle.Object("preStop"))
		}
		return len(hosts) > before
	})
	if len(bad) == 0 {
		return "", ""
	}
	bad, hosts = sortedSet(bad), sortedSet(hosts)
	return "probe or lifecycle host", containersText(bad) + plural(" uses ", " use ", len(bad)) +
		plural("probe or lifecycle host ", "probe or lifecycle hosts ", len(hosts)) + quoted(hosts)
}

func appendHosts(hosts []string, handler tree.Tree) []string {
	for _, action := range [...]string{"httpGet", "tcpSocket"} {
		if host := handler.Object(action).String("host"); host != "" {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
