package daemon

import (
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/volumes"
	"github.com/troupe-api/troupe/kinds/catalog"
)

// volumeControllers are those of claims and volumes, and of what has run to its end.
var volumeControllers = []builtIn{
	{name: "ephemeral-volume-controller", alias: "ephemeral-volume", authorizes: true, newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return volumes.NewEphemeral(d.admittingStore(), kinds, d.log)
	}},
	{name: "persistentvolume-binder-controller", alias: "persistentvolume-binder", newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return volumes.NewBinder(d.leadersStore(), kinds, d.log)
	}},
	{name: "ttl-after-finished-controller", alias: "ttl-after-finished", authorizes: true, newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return controllers.NewTTLAfterFinished(d.admittingStore(), kinds, d.log)
	}},
}
