package daemon

import (
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/volumes"
)

// volumeControllers handle volumes, claims and finished Jobs.
var volumeControllers = []builtIn{
	{name: "ephemeral-volume-controller", alias: "ephemeral-volume", ofCluster: plain(volumes.NewEphemeral)},
	{name: "persistentvolume-binder-controller", alias: "persistentvolume-binder", ofCluster: plain(volumes.NewBinder)},
	{name: "ttl-after-finished-controller", alias: "ttl-after-finished", ofCluster: plain(controllers.NewTTLAfterFinished)},
}
