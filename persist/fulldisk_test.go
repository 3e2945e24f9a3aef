package persist

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/persist/vfs"
)

func TestFailedSync(t *testing.T) {
	fs := vfs.NewMem()
	j, m := mustReopen(t, testOptions(fs))
	mustAppend(t, j, put("a", "1"))
	fs.SetFault(func(op vfs.Op) error {
		if op.Name == "sync" {
			return errors.New("bad disk")
		}
		return nil
	})
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

// TestFullDisk fills the disk at every possible number of bytes.
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
		if err := j.Snapshot(m.newest, 0, m.items()); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, j, put("again", "2"))
		want := m.String()
		j, m = mustReopen(t, testOptions(fs.Crash(nil)))
		if got := m.String(); got != want {
			t.Fatalf("room %d: after a crash\n%s want\n%s", room, got, want)
		}
		mustClose(t, j)
	}
}
