package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"
)

// registryShards is how many concurrent maps, of 32 plain maps each, the registry of a system has.
// It must divide the 1,024 that one is made with, which are 4 MiB while they are empty and 12 MiB
// once each has held something.
const registryShards = 32

// slimRegistry leaves a new system a smaller registry of its actors. Nobody else may use the system yet.
func slimRegistry(system *actor.ActorSystem) {
	registry := system.ProcessRegistry.LocalPIDs
	all := registry.LocalPIDs
	registry.LocalPIDs = slices.Clone(all[:registryShards]) // what is in these has its place there still
	for _, processes := range all[registryShards:] {
		for name, process := range processes.Items() {
			registry.GetBucket(name).Set(name, process)
		}
	}
}
