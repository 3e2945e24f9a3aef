package runtime

import (
	"log/slog"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
)

// registryMaps is how many concurrent maps the registry of actors keeps, each of 32 shards with a
// mutex.
const registryMaps = 32

// newSystem makes an actor system that logs nothing: what is worth logging, the supervisor logs.
func newSystem() *actor.ActorSystem {
	system := actor.NewActorSystem(func(c *actor.Config) {
		c.LoggerFactory = func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	})
	shrinkRegistry(system.ProcessRegistry)
	return system
}

// shrinkRegistry keeps a few of the registry's maps, and moves what the others hold into these. It
// must run before anybody else sees the registry.
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
