package runtime

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	cmap "github.com/orcaman/concurrent-map"
)

// The registry of an actor system consists of 1,024 concurrent maps. Creating them with the default
// of 32 shards each would take a tenth of a server's startup time.
func init() { cmap.SHARD_COUNT = 1 }

// registryMaps is the number of concurrent maps in the registry after it is shrunk.
const registryMaps = 32

// sharedSystem returns the actor system of all runtimes in this process. A system is larger than a
// small server's state, and holds nothing but the names of actors.
var sharedSystem = sync.OnceValue(newSystem)

// newSystem returns an actor system without a logger. The supervisor logs failures.
func newSystem() *actor.ActorSystem {
	system := actor.NewActorSystem(func(c *actor.Config) {
		c.LoggerFactory = func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	})
	shrinkRegistry(system.ProcessRegistry)
	return system
}

// shrinkRegistry moves all entries of the registry to its first maps and drops the others. It must
// not run concurrently with other uses of the registry.
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
