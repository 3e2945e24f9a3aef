package actors

import (
	"log/slog"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	cmap "github.com/orcaman/concurrent-map"
)

// shrinkRegistry keeps the registry of actors small. It is 1,024 maps of so many shards each, 32 as
// the library comes, which are 33,000 objects and 4.5 MiB for nothing: 1,024 locks are enough.
var shrinkRegistry = sync.OnceFunc(func() { cmap.SHARD_COUNT = 1 })

// newSystem makes a system of actors that logs nothing: what is worth it, supervision logs.
func newSystem() *actor.ActorSystem {
	shrinkRegistry()
	return actor.NewActorSystem(func(c *actor.Config) {
		c.LoggerFactory = func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	})
}
