package daemon

import (
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/volumes"
)

// volumeControllers are those of claims and volumes, and of what has run to its end.
var volumeControllers = []builtIn{
	{name: "ephemeral-volume-controller", alias: "ephemeral-volume", ofCluster: plain(volumes.NewEphemeral)},
	{name: "persistentvolume-binder-controller", alias: "persistentvolume-binder", ofCluster: plain(volumes.NewBinder)},
	{name: "ttl-after-finished-controller", alias: "ttl-after-finished", ofCluster: plain(controllers.NewTTLAfterFinished)},
}
