package daemon

import (
	"github.com/troupe-api/troupe/actors/controllers/volumes"
	"github.com/troupe-api/troupe/actors/controllers/workloads/job"
)

// volumeControllers handle volumes, claims and finished Jobs.
var volumeControllers = []builtIn{
	{name: "ephemeral-volume-controller", alias: "ephemeral-volume", ofCluster: plain(volumes.NewEphemeral)},
	{name: "persistentvolume-binder-controller", alias: "persistentvolume-binder", ofCluster: plain(volumes.NewBinder)},
	{name: "ttl-after-finished-controller", alias: "ttl-after-finished", ofCluster: plain(job.NewTTLAfterFinished)},
}
