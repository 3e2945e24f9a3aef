package runtime

import (
	"log/slog"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
)

// registryMaps is the number of concurrent maps, of 32 shards each, in the registry of actors.
const registryMaps = 32

// newSystem returns an actor system without logging; the supervisor logs.
func newSystem() *actor.ActorSystem {
	system := actor.NewActorSystem(func(c *actor.Config) {
		c.LoggerFactory = func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	})
	shrinkRegistry(system.ProcessRegistry)
	return system
}

// shrinkRegistry keeps a few of the registry's maps, and moves the content of the others. It must
// run before any other use of the registry.
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
