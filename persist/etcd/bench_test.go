package etcd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
)

// BenchmarkStart opens a log with 100,000 objects of 1 KiB, with and without a local copy. It
// reports the CPU time of this process and of etcd separately.
func BenchmarkStart(b *testing.B) {
	const objects = 100_000
	cluster := etcdtest.Start(b, 1)
	o := Options{Endpoints: cluster.URLs()}
	value := strings.Repeat("x", 1000)
	items := func(yield func(string, []byte, int) error) error {
		for i := range objects {
			w := put(fmt.Sprintf("/c/n/%06d", i), value)
			if err := yield(w.Key, w.Value, w.RevisionOffset); err != nil {
				return err
			}
		}
		return nil
	}
	err := Fill(b.Context(), o, func() (Content, error) { return Content{Items: items}, nil })
	must.Succeed(b, err)
	copied := o
	copied.CopyDir = b.TempDir()
	start := func(o Options, use func(*Log, persist.Revision, []persist.Item) error) error {
		l, err := Open(b.Context(), o)
		if err != nil {
			return err
		}
		defer l.Close()
		var items []persist.Item
		at, err := l.Recover(persist.Recovery{Item: func(i persist.Item) error { items = append(items, i); return nil }})
		if err == nil && len(items) != objects {
			err = fmt.Errorf("%d objects", len(items))
		}
		if err == nil {
			err = use(l, at, items)
		}
		return err
	}
	var size int64
	err = start(copied, func(l *Log, at persist.Revision, items []persist.Item) error {
		began := time.Now()
		err := l.Snapshot(at, 0, func(yield func(persist.Item) bool) error {
			for _, i := range items {
				if !yield(i) {
					break
				}
			}
			return nil
		})
		b.Log("writing the copy took", time.Since(began))
		size = l.copy.bytes.Load()
		return err
	})
	must.Succeed(b, err)
	for _, c := range []struct {
		name string
		o    Options
	}{{"all from etcd", o}, {"from the copy", copied}} {
		b.Run(c.name, func(b *testing.B) {
			var read uint64
			cpu, servers := cpuTime(b), cluster.Members[0].CPUTime()
			for b.Loop() {
				must.Succeed(b, start(c.o, func(l *Log, _ persist.Revision, _ []persist.Item) error { read = l.stats.bytesRead.Load(); return nil }))
			}
			b.ReportMetric(float64((cpuTime(b)-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64((cluster.Members[0].CPUTime()-servers).Milliseconds())/float64(b.N), "etcd-cpu-ms/op")
			b.ReportMetric(float64(read)/(1<<20), "MiB-from-etcd")
			b.ReportMetric(float64(size)/(1<<20), "MiB-copy")
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	return must.Get(processes.CPUTime())(b)
}
