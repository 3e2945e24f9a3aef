package persist

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

func benchOptions(sync SyncPolicy) Options {
	o := testOptions(vfs.OS{})
	o.SegmentBytes, o.Sync = 0, sync
	return o
}

func BenchmarkAppend(b *testing.B) {
	value := strings.Repeat("x", 1024)
	for _, sync := range []SyncPolicy{SyncNone, SyncAlways} {
		for _, n := range []int{1, 64} {
			b.Run(fmt.Sprintf("sync=%s/batch=%d", sync, n), func(b *testing.B) {
				j := must.Get(Open(b.TempDir(), benchOptions(sync)))(b)
				must.Get(j.Recover(Recovery{State: &unapplied{applied: math.MaxUint64}}))(b)
				batch := make([]Write, n)
				for i := range batch {
					batch[i] = Write{Key: fmt.Sprint("/configmaps/default/", i), Value: []byte(value), RevisionOffset: 100}
				}
				b.ReportAllocs()
				for b.Loop() {
					mustAppend(b, j, batch...)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/write")
				mustClose(b, j)
			})
		}
	}
}

func BenchmarkRecover(b *testing.B) {
	for _, from := range []string{"journal", "journal of single writes", "snapshot"} {
		b.Run(from, func(b *testing.B) {
			dir := b.TempDir()
			fillForRecovery(b, dir, from)
			for b.Loop() {
				j, err := Open(dir, benchOptions(SyncAlways))
				must.Succeed(b, err)
				items := make([]Item, 0, 50_002)
				keep := func(i Item) error { items = append(items, i); return nil }
				_, err = j.Recover(Recovery{Item: keep, Commit: func(c Commit) error {
					return keep(Item{Key: c.Key, Value: c.Value, Revision: c.Revision})
				}})
				if err != nil || len(items) < 50_000 || len(items) > 50_002 {
					b.Fatal(len(items), err)
				}
				mustClose(b, j)
			}
		})
	}
}

func fillForRecovery(b *testing.B, dir, from string) {
	j := must.Get(Open(dir, benchOptions(SyncNone)))(b)
	must.Get(j.Recover(Recovery{State: &unapplied{applied: math.MaxUint64}}))(b)
	value := []byte(strings.Repeat("x", 1024))
	key := func(i int) string { return fmt.Sprintf("/configmaps/default/%06d", i) }
	per := 64
	if from == "journal of single writes" {
		per = 1
	}
	var batch []Write
	for i := range 50_000 {
		batch = append(batch, Write{Key: key(i), Value: value, RevisionOffset: 10})
		if len(batch) == per || i == 49_999 {
			mustAppend(b, j, batch...)
			batch = batch[:0]
		}
	}
	if from == "snapshot" {
		// The first snapshot makes the next write start a segment, and the second drops the earlier
		// segments.
		for at := Revision(50_000); at <= 50_001; at++ {
			must.Succeed(b, j.Snapshot(at, at+1, func(yield func(Item) bool) error {
				for i := range 50_000 {
					if !yield(Item{Key: key(i), Value: value, Revision: Revision(i + 1)}) {
						break
					}
				}
				return nil
			}))
			mustAppend(b, j, Write{Key: key(0), Value: value, RevisionOffset: 10})
		}
	}
	mustClose(b, j)
}
