package persist

import (
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestCheckpoint checks that a journal with a checkpoint delivers nothing and continues from its
// revision, and that the files of both journals are complete.
func TestCheckpoint(t *testing.T) {
	for _, closed := range []bool{false, true} {
		fs := vfs.NewVolatile()
		o := testOptions(fs)
		o.Sync = SyncNone
		j, m := mustReopen(t, o)
		for range 60 { // several segments
			mustAppend(t, j, put("a", "some text to fill a segment"), put("b", "2"))
		}
		mustSnapshot(t, j, m)
		mustAppend(t, j, put("c", "3"))
		if closed {
			mustClose(t, j)
		}
		copied := o
		must.Succeed(t, j.Freeze(func(c Checkpoint) { copied.FS, copied.Checkpoint = fs.Fork(), &c }))

		fork := must.Get(Open(testDir, copied))(t)
		newest, err := fork.Recover(Recovery{
			Item: func(i Item) error { t.Errorf("item %v", i); return nil }, Commit: func(c Commit) error { t.Errorf("commit %v", c); return nil },
			State: &unapplied{},
		})
		if err != nil || newest != m.newest {
			t.Fatalf("the fork is at %d, %v, want %d", newest, err, m.newest)
		}
		if have, want := fork.Stats(), j.Stats(); have.JournalBytes != want.JournalBytes || have.SnapshotBytes != want.SnapshotBytes || have.SinceSnapshot != want.SinceSnapshot {
			t.Errorf("the fork has %+v, want %+v", have, want)
		}
		if have, want := &fork.inventory, &j.inventory; have.base != want.base || !have.hasBase {
			t.Errorf("the fork's snapshot is at %d, want %d", have.base, want.base)
		}
		if r := mustAppend(t, fork, put("d", "4"))[0]; r.Err != nil || r.Revision != newest+1 {
			t.Errorf("the first write of the fork: %+v", r)
		}
		mustClose(t, fork)
		copied.Checkpoint = nil
		fork, ofFork := mustReopen(t, copied)
		if ofFork.newest != newest+1 || len(ofFork.state) != 4 {
			t.Errorf("the fork has %v at %d", ofFork.state, ofFork.newest)
		}
		mustClose(t, fork)
		if !closed {
			mustClose(t, j)
		}
		j, again := mustReopen(t, o)
		if again.newest != newest || len(again.state) != 3 {
			t.Errorf("the original has %v at %d", again.state, again.newest)
		}
		mustClose(t, j)
	}
}

// TestFreezeAfterFailure checks that a failed journal has no checkpoint.
func TestFreezeAfterFailure(t *testing.T) {
	fs := vfs.NewMem()
	j, _ := mustReopen(t, testOptions(fs))
	fs.SetFault(failOn("sync", vfs.ErrCrashed))
	if _, err := j.Append([]Write{put("a", "1")}); err == nil {
		t.Fatal("a write without a sync is acknowledged")
	}
	if err := j.Freeze(func(Checkpoint) { t.Error("frozen") }); err == nil {
		t.Error("a failed journal was frozen")
	}
	_ = j.Close()
}
