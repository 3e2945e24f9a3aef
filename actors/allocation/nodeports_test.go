package allocation

import (
	"strings"
	"testing"
)

func TestNodePorts(t *testing.T) {
	port := func(fields string) string { return `"type":"NodePort","ports":[` + fields + `]` }
	const had = `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack",`
	const v4 = `{clusterIP:10.0.0.5,clusterIPs:[10.0.0.5],ipFamilies:[IPv4],ipFamilyPolicy:SingleStack,`
	for _, c := range []struct{ name, ports, old, spec, want, causes string }{
		{"any", one, ``, had + port(`{"port":80}`), v4 + `nodePorts:[30000]}`, ``},
		{"one for both protocols", one, ``, had + port(`{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP"}`), v4 + `nodePorts:[30000,30000]}`, ``},
		{"the chosen one for both", four, ``, had + port(`{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP","nodePort":30001}`), v4 + `nodePorts:[30001,30001]}`, ``},
		{"chosen for both", four, ``, had + port(`{"port":53,"protocol":"UDP","nodePort":30001},{"port":53,"protocol":"TCP","nodePort":30001}`), v4 + `nodePorts:[30001,30001]}`, ``},
		{"chosen for two ports", four, ``, had + port(`{"port":53,"protocol":"UDP","nodePort":30001},{"port":54,"protocol":"TCP","nodePort":30001}`), ``,
			`spec.ports[1].nodePort: Invalid value: 30001: provided port is already allocated`},
		{"of another Service", four, ``, had + port(`{"port":53,"nodePort":30003}`), ``, `spec.ports[0].nodePort: Invalid value: 30003: provided port is already allocated`},
		{"outside", four, ``, had + port(`{"port":53,"nodePort":80}`), ``, `spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-30003`},
		{"too many", one, ``, had + port(`{"port":1},{"port":2}`), ``, `spec.ports[1].nodePort: Invalid value: 0: failed to allocate a nodePort: range is full`},
		{"none wanted", one, ``, had + `"type":"LoadBalancer","ports":[{"port":1}],"allocateLoadBalancerNodePorts":false`, v4 + `nodePorts:[none]}`, ``},
		{"one chosen, none wanted", four, ``, had + `"type":"LoadBalancer","ports":[{"port":1},{"port":2,"nodePort":30001}],"allocateLoadBalancerNodePorts":false`, v4 + `nodePorts:[none,30001]}`, ``},
		{"kept, and one more", "30000-30001", had + port(`{"port":1,"nodePort":30001}`), had + port(`{"port":1,"nodePort":30001},{"port":2}`), v4 + `nodePorts:[30001,30000]}`, ``},
		{"from ClusterIP", one, had + `"ports":[{"port":1}]`, had + port(`{"port":1}`), v4 + `nodePorts:[30000]}`, ``},
		{"to ClusterIP", one, had + port(`{"port":1,"nodePort":30000}`), had + `"ports":[{"port":1}]`, v4 + `nodePorts:[none]}`, ``},
		{"for health checks", one, ``, had + `"type":"LoadBalancer","externalTrafficPolicy":"Local"`, `{clusterIP:10.0.0.5,clusterIPs:[10.0.0.5],healthCheckNodePort:30000,ipFamilies:[IPv4],ipFamilyPolicy:SingleStack}`, ``},
		{"chosen for health checks", four, ``, had + `"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30003`, ``,
			`spec.healthCheckNodePort: Invalid value: 30003: failed to allocate requested HealthCheck NodePort 30003: provided port is already allocated`},
		{"for health checks twice", four, ``, had + `"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30001,"ports":[{"port":1,"nodePort":30001}]`, ``,
			`spec.healthCheckNodePort: Invalid value: 30001: failed to allocate requested HealthCheck NodePort 30001: provided port is already allocated`},
		{"health checks end", one, had + `"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30000`, had + `"type":"LoadBalancer","externalTrafficPolicy":"Cluster"`, v4[:len(v4)-1] + `}`, ``},
	} {
		s := services(t, small, c.ports)
		allocateAndCommit(t, s, "other", nil, serviceObject(t, port(`{"port":1,"nodePort":30003}`)+`,"clusterIP":"10.0.0.6","clusterIPs":["10.0.0.6"]`))
		old, want := serviceObject(t, c.old), serviceObject(t, c.spec)
		if old != nil {
			s.Observe(key("x"), nil, old)
		}
		before := allocatedText(s)
		equal(t, c.name, strings.Join(allocateAndCommit(t, s, "x", old, want), "\n"), c.causes)
		if c.causes != "" {
			equal(t, c.name+" holds", allocatedText(s), before)
			continue
		}
		equal(t, c.name, specText(want), c.want)
		allocateAndCommit(t, s, "x", want, nil)
		if rest := allocatedText(s); strings.Contains(rest, "=x") {
			t.Errorf("%s: a Service that is gone holds %s", c.name, rest)
		}
	}
}
