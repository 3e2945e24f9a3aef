package runtime

import (
	"log/slog"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
)

// registryMaps is the number of concurrent maps that the actor registry keeps. Each has 32 shards.
const registryMaps = 32

// newSystem returns an actor system that logs nothing, because the supervisor does.
func newSystem() *actor.ActorSystem {
	system := actor.NewActorSystem(func(c *actor.Config) {
		c.LoggerFactory = func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	})
	shrinkRegistry(system.ProcessRegistry)
	return system
}

// shrinkRegistry keeps the first maps of the registry and moves the entries of the others into
// them. Nothing else may use the registry before it returns.
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
