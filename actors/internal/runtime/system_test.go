package runtime

import (
	goruntime "runtime"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	cmap "github.com/orcaman/concurrent-map"
)

// TestSystemIsSmall checks that an empty actor system takes at most 1 MiB, and that its shrunk
// registry still finds every actor.
func TestSystemIsSmall(t *testing.T) {
	var before, after goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	system := newSystem()
	goruntime.GC()
	goruntime.ReadMemStats(&after)
	if size := int64(after.HeapAlloc) - int64(before.HeapAlloc); size > 1<<20 {
		t.Errorf("a system takes %d KiB", size>>10)
	}
	for _, id := range []string{"deadletter", "eventstream"} {
		if _, found := system.ProcessRegistry.GetLocal(id); !found {
			t.Errorf("%s is not found", id)
		}
	}
	for range 5000 {
		pid := system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		if _, found := system.ProcessRegistry.GetLocal(pid.Id); !found {
			t.Fatalf("%s is not found", pid.Id)
		}
	}
}

// TestConcurrentMapsOfOthers checks that creating an actor system does not break existing
// concurrent maps elsewhere in the program.
func TestConcurrentMapsOfOthers(t *testing.T) {
	theirs, shards := cmap.New(), cmap.SHARD_COUNT
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		theirs.Set(key, true)
	}
	New(Options{Throughput: 1}).Close()
	if cmap.SHARD_COUNT != shards {
		t.Errorf("the shards of all maps are %d, were %d", cmap.SHARD_COUNT, shards)
	}
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		if !theirs.Has(key) {
			t.Errorf("%q is lost", key)
		}
	}
}

func BenchmarkNewSystem(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newSystem()
	}
}
