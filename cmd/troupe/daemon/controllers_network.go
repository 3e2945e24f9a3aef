package daemon

import (
	"time"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/addresses"
	"github.com/troupe-api/troupe/actors/controllers/disruption"
	"github.com/troupe-api/troupe/actors/controllers/endpoints"
	"github.com/troupe-api/troupe/actors/controllers/nodes"
	"github.com/troupe-api/troupe/kinds/catalog"
)

// networkControllers are those of Services and their addresses, and of nodes.
var networkControllers = []builtIn{
	{name: "disruption-controller", alias: "disruption", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return disruption.NewBudgets(store, kinds, d.log)
	}},
	{name: "endpoints-controller", alias: "endpoint", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return endpoints.NewEndpoints(d.backends(store, kinds))
	}},
	{name: "endpointslice-controller", alias: "endpointslice", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return endpoints.NewSlices(d.backends(store, kinds))
	}},
	{name: "endpointslice-mirroring-controller", alias: "endpointslicemirroring", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return endpoints.NewMirror(store, kinds, d.log)
	}},
	{name: "node-ipam-controller", alias: "nodeipam", newController: func(d *Daemon, store controllers.Store, _ *catalog.Catalog) controller {
		return d.newIPAM(store)
	}},
	{name: "node-lifecycle-controller", alias: "nodelifecycle", enabled: onlyNamed, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		n := d.config.Nodes
		return nodes.NewLifecycle(store, kinds, nodes.LifecycleOptions{
			Period: time.Duration(n.MonitorPeriod), Grace: time.Duration(n.MonitorGracePeriod), StartupGrace: time.Duration(n.StartupGracePeriod),
		}, d.log)
	}},
	{name: "pod-garbage-collector-controller", alias: "podgc", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return nodes.NewPodGC(store, kinds, nodes.DefaultPodGC(d.config.Nodes.TerminatedPodThreshold), d.log)
	}},
	{name: "service-cidr-controller", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return addresses.NewServiceCIDRs(store, kinds, d.services, d.log)
	}},
	{name: "taint-eviction-controller", enabled: onlyNamed, newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return nodes.NewTaintEviction(store, kinds, d.log)
	}},
}

// backends is what the controllers of endpoints share: which Pods Services select.
func (d *Daemon) backends(store controllers.Store, kinds *catalog.Catalog) *endpoints.Backends {
	if d.endpointBackends == nil {
		d.endpointBackends = endpoints.NewBackends(store, kinds, d.log)
	}
	return d.endpointBackends
}
