package daemon

import (
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/volumes"
	"github.com/troupe-api/troupe/kinds/catalog"
)

// volumeControllers are those of claims and volumes, and of what has run to its end.
var volumeControllers = []builtIn{
	{name: "ephemeral-volume-controller", alias: "ephemeral-volume", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return volumes.NewEphemeral(store, kinds, d.log)
	}},
	{name: "persistentvolume-binder-controller", alias: "persistentvolume-binder", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return volumes.NewBinder(store, kinds, d.log)
	}},
	{name: "ttl-after-finished-controller", alias: "ttl-after-finished", newController: func(d *Daemon, store controllers.Store, kinds *catalog.Catalog) controller {
		return controllers.NewTTLAfterFinished(store, kinds, d.log)
	}},
}
