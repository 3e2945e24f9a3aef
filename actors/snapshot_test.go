package actors_test

import (
	"context"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestSnapshotInTheBallast checks that a snapshot on a full disk can use the space that the ballast
// file reserves. The first attempt fails midway, and the second must still contain all objects.
func TestSnapshotInTheBallast(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	disk := vfs.NewMem()
	h := &testStore{t: t, kinds: kinds}
	reopen := func() {
		t.Helper()
		var err error
		if h.journal, err = persist.Open("/data", persist.Options{FS: disk, Sync: persist.SyncAlways}); err != nil {
			t.Fatal(err)
		}
		if h.Store, err = actors.Open(actors.Options{Log: h.journal, Catalog: kinds, Naming: meta.Platform, Tuning: actors.DefaultTuning()}); err != nil {
			t.Fatal(err)
		}
	}
	reopen()
	const objects = 50
	for i := range objects {
		must.Get(h.create("c"+strconv.Itoa(i), strings.Repeat("x", 64<<10)))(t)
	}
	if !poll(func() bool { return len(disk.Bytes("/data/ballast")) >= 4<<20 }) {
		t.Fatal("no space is kept")
	}
	writes := 0
	disk.SetFault(func(op vfs.Op) error {
		if op.Name == "write" && strings.Contains(op.Path, "snapshot") {
			if writes++; writes == 3 {
				return syscall.ENOSPC
			}
		}
		return nil
	})
	if err := h.Snapshot(); err != nil || writes <= 3 {
		t.Fatalf("after %d writes: %v", writes, err)
	}
	h.close()
	reopen()
	defer h.close()
	if found := len(h.list(request.List{}).Items); found != objects {
		t.Errorf("%d objects of %d are left", found, objects)
	}
}

// A slowDisk is a log that requests a final snapshot, and delays or blocks each of its items.
type slowDisk struct {
	persist.Log
	each func()
	end  chan error // receives the result of each snapshot
}

func (d *slowDisk) Stats() persist.Stats {
	s := d.Log.Stats()
	s.SnapshotAtEnd = true
	return s
}

func (d *slowDisk) Snapshot(_, _ persist.Revision, items func(yield func(persist.Item) bool) error) error {
	err := items(func(persist.Item) bool {
		d.each()
		return true
	})
	d.end <- err
	return err
}

// TestSnapshotBeforeTheEnd checks that a closing store writes a snapshot if the log requests it.
// The snapshot may use half of the timeout, so that waiting requests still get responses.
func TestSnapshotBeforeTheEnd(t *testing.T) {
	for _, c := range []struct {
		name            string
		pause           time.Duration // for each item
		stuck           bool          // at the first item
		whole, brokeOff bool
	}{
		{"quick", 0, false, true, false},
		{"slow", 20 * time.Millisecond, false, false, true},
		{"never", 0, true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				never := make(chan struct{})
				defer close(never)
				disk := &slowDisk{end: make(chan error, 1), each: func() {
					if c.stuck {
						<-never
					}
					time.Sleep(c.pause)
				}}
				h := open(t, t.TempDir(), func(o *actors.Options) { disk.Log, o.Log = o.Log, disk })
				for i := range 500 {
					must.Get(h.create("c"+strconv.Itoa(i), "x"))(t)
				}
				within, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				if err := h.Close(within); err != nil || within.Err() != nil {
					t.Errorf("closing: %v, %v", err, within.Err())
				}
				select {
				case err := <-disk.end:
					if c.whole != (err == nil) || c.brokeOff != (err != nil) {
						t.Errorf("the snapshot: %v", err)
					}
				default:
					if c.whole || c.brokeOff {
						t.Error("the snapshot has no end")
					}
				}
				if err := h.journal.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
