package runtime

import (
	"log/slog"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	cmap "github.com/orcaman/concurrent-map"
)

// The registry of an actor system consists of 1,024 concurrent maps. With the default of 32 shards
// each, creating them would take a tenth of the start of a server.
func init() { cmap.SHARD_COUNT = 1 }

// registryMaps is the number of concurrent maps that remain in the actor registry after it is
// shrunk.
const registryMaps = 32

// newSystem returns an actor system without a logger. The supervisor logs failures.
func newSystem() *actor.ActorSystem {
	system := actor.NewActorSystem(func(c *actor.Config) {
		c.LoggerFactory = func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	})
	shrinkRegistry(system.ProcessRegistry)
	return system
}

// shrinkRegistry moves all entries of the registry to its first maps and drops the other maps. It
// must not run concurrently with other uses of the registry.
func shrinkRegistry(registry *actor.ProcessRegistryValue) {
	all := registry.LocalPIDs.LocalPIDs
	registry.LocalPIDs.LocalPIDs = slices.Clone(all[:registryMaps])
	for _, m := range all {
		var ids []string
		m.IterCb(func(id string, _ any) { ids = append(ids, id) })
		for _, id := range ids {
			process, _ := m.Pop(id)
			registry.LocalPIDs.GetBucket(id).Set(id, process)
		}
	}
}
