package actors

import (
	"runtime"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// A system without actors is small, and its actors are found.
func TestSystemIsSmall(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	system := newSystem()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if size := int64(after.HeapAlloc) - int64(before.HeapAlloc); size > 1<<20 {
		t.Errorf("a system takes %d KiB", size>>10)
	}
	for range 5000 {
		pid := system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		if _, found := system.ProcessRegistry.GetLocal(pid.Id); !found {
			t.Fatalf("%s is not found", pid.Id)
		}
	}
}
