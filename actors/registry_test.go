package actors

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// A smaller registry knows what it knew before, and what comes later.
func TestSlimRegistry(t *testing.T) {
	system := actor.NewActorSystem(func(c *actor.Config) {
		c.LoggerFactory = func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	})
	process, known := system.ProcessRegistry.GetLocal("eventstream")
	if !known {
		t.Fatal("a system knows no event stream")
	}
	before := make(map[string]actor.Process)
	for n := range 200 {
		name := fmt.Sprintf("before-%d", n)
		before[name] = process
		system.ProcessRegistry.Add(process, name)
	}
	slimRegistry(system)
	before["eventstream"] = process
	system.ProcessRegistry.Add(process, "after")
	before["after"] = process
	for name, process := range before {
		if found, ok := system.ProcessRegistry.GetLocal(name); !ok || found != process {
			t.Errorf("%s is %v, %t", name, found, ok)
		}
	}
	if n := len(system.ProcessRegistry.LocalPIDs.LocalPIDs); n != registryShards {
		t.Errorf("%d shards", n)
	}
}
