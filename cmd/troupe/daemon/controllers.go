package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/kinds/catalog"
)

// The controllers that can be switched off, by the names that operators know.
const (
	namespaceController = "namespace-controller"
	garbageCollector    = "garbage-collector-controller"
)

// Controllers says which controllers run: names with commas, * for all, -name for all but
// that one.
type Controllers string

// Runs tells whether a controller is to run. What is named counts more than *.
func (c Controllers) Runs(name string) bool {
	names := c.names()
	return slices.Contains(names, name) || slices.Contains(names, "*") && !slices.Contains(names, "-"+name)
}

func (c Controllers) names() []string {
	var names []string
	for name := range strings.SplitSeq(string(c), ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

func (c Controllers) validate(f *faults) {
	known := []string{"*", namespaceController, garbageCollector}
	for _, name := range c.names() {
		ok := slices.Contains(known, strings.TrimPrefix(name, "-")) && name != "-*"
		f.check(ok, "controllers", fmt.Sprintf("%q is none of %s", name, strings.Join(known, ", ")))
	}
}

// control starts the built-in controllers.
func (d *Daemon) control(kinds *catalog.Catalog) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	wanted := d.config.Controllers
	if wanted.Runs(namespaceController) {
		running.Go(func() { controllers.NewNamespaces(d.store, kinds, d.log).Run(ctx) })
	}
	if wanted.Runs(garbageCollector) {
		running.Go(func() { controllers.NewGarbage(d.store, kinds, d.log).Run(ctx) })
	}
	if ttl := time.Duration(d.config.API.EventTTL); ttl > 0 {
		running.Go(func() { controllers.NewExpiry(d.store, kinds, ttl, d.log).Run(ctx) })
	}
	d.stopControllers = func() {
		cancel()
		running.Wait()
	}
}
