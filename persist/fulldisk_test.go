package persist

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

func TestFailedSync(t *testing.T) {
	fs := vfs.NewMem()
	j, m := mustReopen(t, testOptions(fs))
	mustAppend(t, j, put("a", "1"))
	fs.SetFault(failOn("sync", errors.New("bad disk")))
	if _, err := j.Append([]Write{put("a", "2")}); !errors.Is(err, ErrFailed) {
		t.Fatalf("a failed sync answered %v", err)
	}
	fs.SetFault(nil)
	if _, err := j.Append([]Write{put("a", "3")}); !errors.Is(err, ErrFailed) {
		t.Errorf("after a failed sync Append answered %v", err)
	}
	if got := m.String(); got != "a@1=1\n" {
		t.Errorf("followers saw %s", got)
	}
	if err := j.Snapshot(1, 1, m.items()); !errors.Is(err, ErrFailed) {
		t.Errorf("Snapshot answered %v", err)
	}
	mustClose(t, j)
}

// TestFailedSyncOfSegment checks that a failed sync of a new segment or its directory entry is
// never retried.
func TestFailedSyncOfSegment(t *testing.T) {
	for _, name := range []string{"sync", "syncdir"} {
		fs := vfs.NewMem()
		o := testOptions(fs)
		o.SegmentBytes = 1
		j, m := mustReopen(t, o)
		mustAppend(t, j, put("a", "1"))
		failed := 0
		fs.SetFault(func(op vfs.Op) error {
			if failed == 0 && op.Name == name {
				failed++
				return errors.New("bad disk")
			}
			return nil
		})
		if err := j.Trim(1); !errors.Is(err, ErrFailed) || failed == 0 {
			t.Fatalf("a failed %s answered %v", name, err)
		}
		if _, err := j.Append([]Write{put("a", "2")}); !errors.Is(err, ErrFailed) {
			t.Errorf("after a failed %s Append answered %v", name, err)
		}
		if got := m.String(); got != "a@1=1\n" {
			t.Errorf("followers saw %s", got)
		}
		mustClose(t, j)
	}
}

func TestFullDisk(t *testing.T) {
	for room := int64(0); room < 3500; room += 37 {
		fs := vfs.NewMem()
		j, m := mustReopen(t, testOptions(fs))
		fs.SetBudget(fs.Used() + room)
		full := false
		for i := range 20 {
			_, err := j.Append([]Write{put(fmt.Sprint("k", i), strings.Repeat("x", 300))})
			full = full || err != nil
			if err != nil && !errors.Is(err, ErrNoSpace) {
				t.Fatalf("room %d: %v", room, err)
			}
		}
		if !full {
			t.Fatalf("room %d was enough", room)
		}
		if err := j.Snapshot(m.newest, 0, m.items()); err != nil && !errors.Is(err, ErrNoSpace) {
			t.Fatalf("snapshot: %v", err)
		}
		fs.SetBudget(-1)
		mustAppend(t, j, put("again", "1"))
		must.Succeed(t, j.Snapshot(m.newest, 0, m.items()))
		mustAppend(t, j, put("again", "2"))
		want := m.String()
		j, m = mustReopen(t, testOptions(fs.Crash(nil)))
		if got := m.String(); got != want {
			t.Fatalf("room %d: after a crash\n%s want\n%s", room, got, want)
		}
		mustClose(t, j)
	}
}

// TestFullDiskWithoutWatermark checks that no data is lost if a full disk rejects even in-place
// writes, as on a copy-on-write file system, and the process is then killed or loses power. The
// journal must keep the length that its watermark requires.
func TestFullDiskWithoutWatermark(t *testing.T) {
	const all = 1000
	operations := writeWithoutRoom(t, all)
	if operations < 10 {
		t.Errorf("only %d operations of the disk", operations)
	}
	for n := range operations {
		writeWithoutRoom(t, n)
	}
}

// writeWithoutRoom appends three times to a full disk that fails after the given number of
// operations. It then reopens the journal and returns the number of operations.
func writeWithoutRoom(t *testing.T, operations int) int {
	t.Helper()
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.ReserveBytes = 64 << 10
	j, m := mustReopen(t, o)
	mustAppend(t, j, put("a", "1"), put("b", "1"))
	must.Succeed(t, j.writeWatermark())
	begin := fs.Ops()
	fs.SetFault(func(op vfs.Op) error {
		if op.N > begin+operations {
			return vfs.ErrCrashed
		}
		if op.Name == "write" {
			return syscall.ENOSPC
		}
		return nil
	})
	for range 3 {
		_, err := j.Append([]Write{{Key: "a", Delete: true, FreesSpace: true, RevisionOffset: -1}})
		if !errors.Is(err, ErrNoSpace) && !errors.Is(err, ErrFailed) {
			t.Fatalf("a delete on a full disk: %v", err)
		}
	}
	tried, want := fs.Ops()-begin, m.String()
	for how, left := range map[string]*vfs.Mem{"kill": fs.Clone(), "crash": fs.Crash(nil)} {
		o.FS = left
		j, m, err := reopen(o)
		if err != nil || m.String() != want {
			t.Fatalf("after a %s at operation %d: %v\n%s want\n%s", how, operations, err, m, want)
		}
		mustAppend(t, j, put("c", "1"))
		mustClose(t, j)
	}
	return tried
}
