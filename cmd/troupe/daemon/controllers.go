package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/kinds/catalog"
)

// A builtIn is a controller that is part of the daemon, under the name that operators know.
type builtIn struct {
	name          string
	alias         string // another name, that operators know from before
	offByDefault  bool   // unless it is named
	newController func(d *Daemon, kinds *catalog.Catalog) controller
}

// A controller works until the context ends.
type controller interface{ Run(ctx context.Context) }

// builtIns are all controllers that can be switched off, in the order of their names.
var builtIns = []builtIn{
	{name: "bootstrap-signer-controller", alias: "bootstrapsigner", offByDefault: true, newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewBootstrapSigner(d.store, kinds, d.log)
	}},
	{name: "clusterrole-aggregation-controller", alias: "clusterrole-aggregation", newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewClusterRoleAggregation(d.store, kinds, d.log)
	}},
	{name: "garbage-collector-controller", alias: "garbagecollector", newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewGarbageCollector(d.store, kinds, d.log)
	}},
	{name: "namespace-controller", alias: "namespace", newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewNamespaces(d.store, kinds, d.log)
	}},
	{name: "persistentvolume-protection-controller", alias: "pv-protection", newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewVolumeProtection(d.store, kinds, d.log)
	}},
	{name: "persistentvolumeclaim-protection-controller", alias: "pvc-protection", newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewVolumeClaimProtection(d.store, kinds, d.log)
	}},
	{name: "serviceaccount-controller", alias: "serviceaccount", newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewServiceAccounts(d.store, kinds, d.log)
	}},
	{name: "serviceaccount-token-controller", alias: "serviceaccount-token", newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewTokens(d.store, kinds, d.serviceAccountTokens.secretIssuer, d.serviceAccountTokens.trustBundle, d.log)
	}},
	{name: "serviceaccount-token-secret-controller", offByDefault: true, newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewTokenSecrets(d.store, kinds, d.log)
	}},
	{name: "token-cleaner-controller", alias: "tokencleaner", offByDefault: true, newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewTokenCleaner(d.store, kinds, d.log)
	}},
}

// Controllers says which controllers run: names with commas, * for all that run by themselves,
// -name for all but that one.
type Controllers string

// runs tells whether a controller is to run. What is named counts more than *.
func (c Controllers) runs(b builtIn) bool {
	names := c.names()
	return slices.Contains(names, b.name) || !b.offByDefault && slices.Contains(names, "*") && !slices.Contains(names, "-"+b.name)
}

// names are what c says, without aliases.
func (c Controllers) names() []string {
	var names []string
	for name := range strings.SplitSeq(string(c), ",") {
		name = strings.TrimSpace(name)
		for _, b := range builtIns {
			if b.alias != "" && strings.TrimPrefix(name, "-") == b.alias {
				name = strings.TrimSuffix(name, b.alias) + b.name
			}
		}
		names = append(names, name)
	}
	return names
}

func (c Controllers) validate(f *faults) {
	known := append([]string{"*"}, controllerNames()...)
	for _, name := range c.names() {
		ok := slices.Contains(known, strings.TrimPrefix(name, "-")) && name != "-*"
		f.check(ok, "controllers", fmt.Sprintf("%q is none of %s", name, strings.Join(known, ", ")))
	}
}

func controllerNames() []string {
	var names []string
	for _, b := range builtIns {
		names = append(names, b.name)
	}
	return names
}

// startControllers starts the built-in controllers.
func (d *Daemon) startControllers() error {
	d.definitions = controllers.NewDefinitions(d.store, d.kinds, d.log)
	d.controllers.run(d.definitions.Run)
	for _, b := range builtIns {
		if d.config.Controllers.runs(b) {
			d.controllers.run(b.newController(d, d.kinds).Run)
		}
	}
	if ttl := time.Duration(d.config.API.EventTTL); ttl > 0 {
		d.controllers.run(controllers.NewEventExpiry(d.store, d.kinds, ttl, d.log).Run)
	}
	return nil
}
