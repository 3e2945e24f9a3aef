package actors_test

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestSnapshotInTheBallast writes a snapshot while the disk is full, in the space that is kept for that: the first
// attempt breaks off in the middle, and the second one has all objects nevertheless.
func TestSnapshotInTheBallast(t *testing.T) {
	kinds, err := catalog.New(meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
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
		if _, err := h.create("c"+strconv.Itoa(i), strings.Repeat("x", 64<<10)); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(30 * time.Second); len(disk.Bytes("/data/ballast")) < 4<<20; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no space is kept")
		}
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
