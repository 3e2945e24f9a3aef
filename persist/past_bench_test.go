package persist

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

// BenchmarkPast reads the ten commits of one key from journals of different sizes, with and without
// the indexes of sealed segments.
func BenchmarkPast(b *testing.B) {
	for _, megabytes := range []int{10, 250} {
		j := must.Get(Open(b.TempDir(), Options{Sync: SyncNone, Logger: slog.New(slog.DiscardHandler)}))(b)
		must.Get(j.Recover(Recovery{}))(b)
		j.Subscribe(func([]Commit, Revision) {})
		value := strings.Repeat("v", 1000)
		for i := range megabytes * 1000 {
			key := fmt.Sprint("k", i%10000)
			if i%(megabytes*100) == 0 {
				key = "rare"
			}
			must.Get(j.Append([]Write{put(key, value)}))(b)
		}
		read := func() {
			p := must.Get(j.Past(context.Background()))(b)
			n := 0
			must.Get(p.Commits("rare", p.Newest, func(Commit) bool { n++; return true }))(b)
			if n != 10 {
				b.Fatalf("%d commits", n)
			}
			must.Succeed(b, p.Close())
		}
		for name, forget := range map[string]bool{"first": true, "warm": false} {
			b.Run(fmt.Sprintf("%dMB/%s", megabytes, name), func(b *testing.B) {
				read()
				for b.Loop() {
					if forget {
						b.StopTimer()
						j.indexes.active, j.indexes.sealed = nil, nil
						must.Succeed(b, os.RemoveAll(indexDir(j.dir)))
						b.StartTimer()
					}
					read()
				}
			})
		}
		must.Succeed(b, j.Close())
	}
}
