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
	name  string
	alias string // another name, that operators know from before
	off   bool   // unless it is named
	make  func(d *Daemon, kinds *catalog.Catalog) controller
}

// A controller works until the context ends.
type controller interface{ Run(ctx context.Context) }

// builtIns are all controllers that can be switched off, in the order of their names.
var builtIns = []builtIn{
	{name: "bootstrap-signer-controller", alias: "bootstrapsigner", off: true, make: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewBootstrapSigner(d.store, kinds, d.log)
	}},
	{name: "clusterrole-aggregation-controller", alias: "clusterrole-aggregation", make: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewAggregation(d.store, kinds, d.log)
	}},
	{name: "garbage-collector-controller", alias: "garbagecollector", make: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewGarbage(d.store, kinds, d.log)
	}},
	{name: "namespace-controller", alias: "namespace", make: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewNamespaces(d.store, kinds, d.log)
	}},
	{name: "persistentvolume-protection-controller", alias: "pv-protection", make: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewVolumes(d.store, kinds, d.log)
	}},
	{name: "persistentvolumeclaim-protection-controller", alias: "pvc-protection", make: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewClaims(d.store, kinds, d.log)
	}},
	{name: "serviceaccount-controller", alias: "serviceaccount", make: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewServiceAccounts(d.store, kinds, d.log)
	}},
	{name: "serviceaccount-token-controller", alias: "serviceaccount-token", make: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewTokens(d.store, kinds, d.accounts.keeper, d.accounts.trust, d.log)
	}},
	{name: "serviceaccount-token-secret-controller", off: true, make: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewTokenSecrets(d.store, kinds, d.log)
	}},
	{name: "token-cleaner-controller", alias: "tokencleaner", off: true, make: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewTokenCleaner(d.store, kinds, d.log)
	}},
}

// Controllers says which controllers run: names with commas, * for all that run by themselves,
// -name for all but that one.
type Controllers string

// Runs tells whether a controller is to run. What is named counts more than *.
func (c Controllers) Runs(b builtIn) bool {
	names := c.names()
	return slices.Contains(names, b.name) || !b.off && slices.Contains(names, "*") && !slices.Contains(names, "-"+b.name)
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

// control starts the built-in controllers.
func (d *Daemon) control(kinds *catalog.Catalog) {
	d.definitions = controllers.NewDefinitions(d.store, kinds, d.log)
	d.controllers.run(d.definitions.Run)
	for _, b := range builtIns {
		if d.config.Controllers.Runs(b) {
			d.controllers.run(b.make(d, kinds).Run)
		}
	}
	if ttl := time.Duration(d.config.API.EventTTL); ttl > 0 {
		d.controllers.run(controllers.NewExpiry(d.store, kinds, ttl, d.log).Run)
	}
}
