package daemon

import (
	"time"

	"github.com/troupe-api/troupe/actors/controllers/disruption"
	"github.com/troupe-api/troupe/actors/controllers/network/addresses"
	"github.com/troupe-api/troupe/actors/controllers/network/endpoints"
	"github.com/troupe-api/troupe/actors/controllers/nodes"
)

// networkControllers handle Services, their endpoints and addresses, and Nodes.
var networkControllers = []builtIn{
	{name: "disruption-controller", alias: "disruption", ofCluster: plain(disruption.NewBudgets)},
	{name: "endpoints-controller", alias: "endpoint", ofCluster: func(c *clusterControllers) controller {
		return endpoints.NewEndpoints(c.backends)
	}},
	{name: "endpointslice-controller", alias: "endpointslice", ofCluster: func(c *clusterControllers) controller {
		return endpoints.NewSlices(c.backends)
	}},
	{name: "endpointslice-mirroring-controller", alias: "endpointslicemirroring", ofCluster: plain(endpoints.NewMirror)},
	{name: "node-ipam-controller", alias: "nodeipam", ofCluster: func(c *clusterControllers) controller {
		return c.newIPAM()
	}},
	{name: "node-lifecycle-controller", alias: "nodelifecycle", enabled: onlyNamed, ofCluster: func(c *clusterControllers) controller {
		n := c.config.Nodes
		return nodes.NewLifecycle(c.env, nodes.LifecycleOptions{
			Period: time.Duration(n.MonitorPeriod), Grace: time.Duration(n.MonitorGracePeriod), StartupGrace: time.Duration(n.StartupGracePeriod),
		})
	}},
	{name: "pod-garbage-collector-controller", alias: "podgc", ofCluster: func(c *clusterControllers) controller {
		return nodes.NewPodGC(c.env, nodes.DefaultPodGC(c.config.Nodes.TerminatedPodThreshold))
	}},
	{name: "service-cidr-controller", ofCluster: func(c *clusterControllers) controller {
		return addresses.NewServiceCIDRs(c.env, c.storage.services)
	}},
	{name: "taint-eviction-controller", enabled: onlyNamed, ofCluster: plain(nodes.NewTaintEviction)},
}
