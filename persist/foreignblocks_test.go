package persist

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestForeignBlocks simulates a power loss on ext4 with data=writeback, which restores a truncated
// segment to its former length with blocks of other files. Recovery must ignore these blocks if the
// next segment continues the journal, and otherwise report them as damage.
func TestForeignBlocks(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.SegmentBytes = 500
	j, m := mustReopen(t, o)
	mustAppend(t, j, put("a", strings.Repeat("a", 600)))
	mustAppend(t, j, put("b", strings.Repeat("b", 600)))
	mustAppend(t, j, put("c", "1"))
	mustClose(t, j)
	want := m.String()
	first := journalDir(testDir) + "/" + fileName(1, segmentSuffix)
	whole := fs.Bytes(first)
	other := fs.Bytes(journalDir(testDir) + "/" + fileName(2, segmentSuffix))
	for name, tail := range map[string][]byte{
		"zeros, then others' bytes": append(make([]byte, 2112), other...),
		"others' bytes at once":     other,
		"noise":                     bytes.Repeat([]byte("noise"), 200),
		"its own past":              whole[segmentHeader:],
	} {
		with := fs.Clone()
		with.SetBytes(first, append(bytes.Clone(whole), tail...))
		var log, report strings.Builder
		o := o
		o.FS, o.Logger = with, slog.New(slog.NewTextHandler(&log, nil))
		if ok, err := verify(testDir, &report, Checks{}, o); err != nil || !ok || !strings.Contains(report.String(), "continues in the next segment") {
			t.Errorf("%s: %v\n%s", name, err, report.String())
		}
		j, m, err := reopen(o)
		if err != nil || m.String() != want || !strings.Contains(log.String(), first) {
			t.Errorf("%s: %v\n%s want\n%s, log %s", name, err, m, want, log.String())
			continue
		}
		if _, err := j.Backup(io.Discard); err != nil {
			t.Errorf("%s: a backup: %v", name, err)
		}
		mustClose(t, j)
		if done, err := restore("/point", Source{Journal: testDir}, o); err != nil || done.Revision != 3 {
			t.Errorf("%s: a point: %+v, %v", name, done, err)
		}
		short := fs.Clone() // lacks the batch, which the next segment does not contain
		short.SetBytes(first, append(bytes.Clone(whole[:segmentHeader]), tail...))
		o.FS = short
		if j, _, err := reopen(o); err == nil && name != "its own past" {
			t.Errorf("%s, in place of a batch: opens", name)
			mustClose(t, j)
		}
	}
}

// TestForeignBlocksOfRemovedSegment checks that the state survives a power loss at every operation
// of a trim, even if the removed segment reappears with the content of another file.
func TestForeignBlocksOfRemovedSegment(t *testing.T) {
	prepare := func() (*vfs.Mem, *Journal, *model) {
		fs := vfs.NewMem()
		o := testOptions(fs)
		o.SegmentBytes = 500
		j, m := mustReopen(t, o)
		for _, key := range []string{"a", "b", "c"} {
			mustAppend(t, j, put(key, strings.Repeat(key, 600)))
		}
		if err := j.Snapshot(m.newest, 0, m.items()); err != nil { // keeps the whole history
			t.Fatal(err)
		}
		mustAppend(t, j, put("d", "1"))
		must.Succeed(t, j.writeWatermark())
		return fs, j, m
	}
	fs, j, m := prepare()
	begin := fs.Ops()
	must.Succeed(t, j.Trim(m.newest))
	want, removed := m.String(), 0
	for at := begin + 1; at <= fs.Ops(); at++ {
		fs, j, m := prepare()
		last := vfs.Op{}
		fs.SetFault(func(op vfs.Op) error {
			if op.N >= at {
				return vfs.ErrCrashed
			}
			last = op
			return nil
		})
		if err := j.Trim(m.newest); err == nil {
			t.Fatalf("operation %d: no crash", at)
		}
		after := fs.Crash(nil)
		if last.Name == "remove" { // the removal was not synced, so the file reappears
			path := last.Path
			if after.Bytes(path) == nil {
				t.Fatalf("operation %d: %s is gone without a sync", at, path)
			}
			after.SetBytes(path, bytes.Repeat([]byte("others"), 150))
			removed++
		}
		o := testOptions(after)
		j, m, err := reopen(o)
		if err != nil || m.String() != want {
			t.Fatalf("operation %d (%v): %v", at, last, err)
		}
		mustClose(t, j)
		for _, path := range after.Files() {
			if strings.HasSuffix(path, tempSuffix) {
				t.Errorf("operation %d: %s is left", at, path)
			}
		}
	}
	if removed == 0 {
		t.Error("no segment was removed")
	}
}
