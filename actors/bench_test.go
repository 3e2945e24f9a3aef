package actors_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
	"github.com/troupe-api/troupe/persist/vfs"
)

func BenchmarkCreate(b *testing.B) {
	h := open(b, b.TempDir(), nil)
	defer h.close()
	kind, value := h.kind("configmaps"), strings.Repeat("x", 1024)
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			name := fmt.Sprint("c", n.Add(1))
			_, err := h.Mutate(context.Background(), request.Mutation{
				Kind: kind, Key: meta.Key{Namespace: "default", Name: name},
				Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": name}, "data": tree.Tree{"v": value}}},
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
}

type countingSink struct{ events *sync.WaitGroup }

func (h countingSink) Events(events []request.Event) error {
	h.events.Add(-len(events))
	return nil
}

func (h countingSink) Done() {}

// BenchmarkFanOut changes a 1 KiB ConfigMap that has 2,000 watches, and waits for all events. It
// also reports the CPU time per event and watch, including the write.
func BenchmarkFanOut(b *testing.B) {
	const watchers = 2000
	h := openOn(b, "data", vfs.NewMem(), nil)
	defer h.close()
	kind, key := h.kind("configmaps"), meta.Key{Namespace: "default", Name: "c"}
	write := func(change func(tree.Tree) request.Change, n int) {
		object := tree.Tree{"metadata": tree.Tree{"name": key.Name}, "data": tree.Tree{"n": fmt.Sprint(n), "v": strings.Repeat("x", 1024)}}
		must.Get(h.Mutate(b.Context(), request.Mutation{Kind: kind, Key: key, Change: change(object)}))(b)
	}
	write(func(object tree.Tree) request.Change { return request.Create{Object: object} }, 0)
	var events sync.WaitGroup
	for range watchers {
		must.Get(h.Watch(b.Context(), request.Watch{Kind: kind, Namespace: "default", Version: h.Version(), Bookmarks: true}, countingSink{&events}))(b)
	}
	b.ReportAllocs()
	before := cpuTime(b)
	for i := 1; b.Loop(); i++ {
		events.Add(watchers)
		write(func(object tree.Tree) request.Change { return request.Update{Object: object} }, i)
		events.Wait()
	}
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N*watchers), "ns-cpu/event")
}

func cpuTime(b *testing.B) time.Duration {
	return must.Get(processes.CPUTime())(b)
}
