package actors_test

import (
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestSnapshotDropsOldSegments checks that a snapshot drops segments older than the history, even
// if a quiet collection still holds old records.
func TestSnapshotDropsOldSegments(t *testing.T) { synctest.Test(t, testSnapshotDropsOldSegments) }

func testSnapshotDropsOldSegments(t *testing.T) {
	var clock atomic.Int64
	clock.Store(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()) }
	kinds, err := catalog.New(meta.Platform)
	must.Succeed(t, err)
	journal, err := persist.Open("/data", persist.Options{FS: vfs.NewMem(), Sync: persist.SyncAlways, SegmentBytes: 16 << 10, Now: now})
	must.Succeed(t, err)
	options := actors.Options{Log: journal, Catalog: kinds, Naming: meta.Platform, Tuning: actors.DefaultTuning(), Now: now}
	options.Tuning.HistoryTime = time.Minute
	h := &testStore{t: t, kinds: kinds, journal: journal}
	if h.Store, err = actors.Open(options); err != nil {
		t.Fatal(err)
	}
	defer time.Sleep(2 * time.Second) // BuntDB notices once a second that a database is closed
	defer h.close()
	write := func() {
		for i := range 200 {
			must.Get(h.create("c"+strconv.Itoa(i)+"-"+strconv.FormatInt(clock.Load(), 36), "some text"))(t)
		}
		must.Succeed(t, h.Snapshot())
	}
	write()
	young := journal.Stats().Segments
	clock.Add(int64(2 * time.Minute))
	time.Sleep(10 * time.Second) // the journal is trimmed more often
	synctest.Wait()
	if n := journal.Stats().Segments; n > 1 { // even without another snapshot
		t.Fatalf("%d segments are kept that a snapshot holds and no history needs", n)
	}
	write()
	if old := journal.Stats().Segments; young < 3 || old > young+1 {
		t.Errorf("%d segments while the first changes were young, %d when they are old and as many came after", young, old)
	}
}
