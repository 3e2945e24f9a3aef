package persist

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

const (
	closed = "after a clean stop"
	marked = "some time after the last write"
	killed = "killed with the last write"
)

// A loss removes part of a data directory. ends lists the journal endings that reveal the loss.
type loss struct {
	name string
	ends string
	take func(fs *vfs.Mem, newest string)
}

func losses(t *testing.T) []loss {
	cut := func(n int) func(*vfs.Mem, string) {
		return func(fs *vfs.Mem, newest string) {
			data := fs.Bytes(newest)
			fs.SetBytes(newest, data[:max(0, len(data)-n)])
		}
	}
	zero := func(n int) func(*vfs.Mem, string) {
		return func(fs *vfs.Mem, newest string) {
			data := fs.Bytes(newest)
			used := len(bytes.TrimRight(data, "\x00"))
			clear(data[max(segmentHeader, used-n):])
			fs.SetBytes(newest, data)
		}
	}
	return []loss{
		{"deleted", closed + marked + killed, func(fs *vfs.Mem, newest string) { _ = fs.Remove(newest) }},
		{"renamed", closed + marked + killed, func(fs *vfs.Mem, newest string) { _ = fs.Rename(newest, newest+".old") }},
		{"emptied", closed + marked + killed, func(fs *vfs.Mem, newest string) { fs.SetBytes(newest, nil) }},
		{"zeroed", closed + marked + killed, func(fs *vfs.Mem, newest string) { fs.SetBytes(newest, make([]byte, 4096)) }},
		{"cut to its header", closed + marked, func(fs *vfs.Mem, newest string) { fs.SetBytes(newest, fs.Bytes(newest)[:segmentHeader]) }},
		{"cut by a byte", closed + marked, cut(1)},
		{"cut by a sector", closed + marked, cut(vfs.Sector)},
		{"cut by more than is reserved", closed + marked, cut(2 * vfs.Sector)},
		{"zeroed in its last sector", closed + marked, zero(vfs.Sector)},
		{"zeroed but for its header", closed + marked, zero(1 << 20)},
		{"replaced by another", closed + marked, func(fs *vfs.Mem, newest string) {
			other, _, _ := lossSubject(t, closed, "c")
			fs.SetBytes(newest, append(other.Bytes(newest), make([]byte, 4096)...))
		}},
	}
}

func TestMissingSegment(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.SegmentBytes = 1
	j, _ := mustReopen(t, o)
	for i := range 4 {
		mustAppend(t, j, put(fmt.Sprint("k", i), "1"))
	}
	mustClose(t, j)
	names, err := fs.ReadDir(testDir + "/journal")
	if err != nil || len(names) < 4 {
		t.Fatal(names, err)
	}
	must.Succeed(t, fs.Remove(testDir+"/journal/"+names[1]))
	var corrupt *CorruptError
	if _, _, err := reopen(o); !errors.As(err, &corrupt) || !strings.Contains(corrupt.File, names[2]) {
		t.Errorf("%v, want an error about %s", err, names[2])
	}
}

// lossSubject creates a directory whose journal ends in the given way. It also returns the name of
// the newest segment and the newest assigned revision.
func lossSubject(t *testing.T, end, fill string) (fs *vfs.Mem, newest string, last Revision) {
	t.Helper()
	fs = vfs.NewMem()
	j, m := mustReopen(t, testOptions(fs))
	must.Succeed(t, j.SetLabel("naming", "platform"))
	for range 5 {
		mustAppend(t, j, put("a", "1"), put("b", strings.Repeat(fill, 700)))
	}
	switch end {
	case closed:
		mustClose(t, j)
	case marked:
		must.Succeed(t, j.writeWatermark())
	}
	fs = fs.Crash(nil)
	for _, p := range fs.Files() {
		if strings.HasSuffix(p, segmentSuffix) {
			newest = p
		}
	}
	return fs, newest, m.newest
}

// TestLossIsRefused removes parts of the newest segment. Open or Recover must report the file, and
// Verify must report the same loss. Accepting the loss must not reuse revisions.
func TestLossIsRefused(t *testing.T) {
	for _, end := range []string{closed, marked, killed} {
		for _, l := range losses(t) {
			if !strings.Contains(l.ends, end) {
				continue
			}
			t.Run(l.name+" "+end, func(t *testing.T) {
				fs, newest, last := lossSubject(t, end, "b")
				l.take(fs, newest)
				checkLoss(t, fs, newest)
				checkRevisionGap(t, fs, last)
			})
		}
	}
}

func checkLoss(t *testing.T, fs *vfs.Mem, file string) {
	t.Helper()
	for range 2 { // the first attempt must not hide the loss from the second
		if _, _, err := reopen(testOptions(fs)); !errors.Is(err, ErrDataLoss) || !strings.Contains(err.Error(), file) {
			t.Fatalf("opened with %v", err)
		}
	}
	var out strings.Builder
	if ok, err := verify(testDir, &out, Checks{}, testOptions(fs)); ok || err != nil || !strings.Contains(out.String(), file) {
		t.Fatalf("verify: %v %v\n%s", ok, err, out.String())
	}
}

func checkRevisionGap(t *testing.T, fs *vfs.Mem, last Revision) {
	t.Helper()
	o := testOptions(fs)
	o.AcceptDataLoss = true
	j, m := mustReopen(t, o)
	if m.base <= last || len(m.history) > 0 {
		t.Fatalf("base %d with %d commits of history, but %d was given out", m.base, len(m.history), last)
	}
	mustAppend(t, j, put("after", "loss"))
	want := m.String()
	must.Succeed(t, j.SetLabel("naming", "platform"))
	fs = fs.Crash(nil)
	var out strings.Builder
	if ok, err := verify(testDir, &out, Checks{}, testOptions(fs)); !ok || err != nil {
		t.Fatalf("verify: %v\n%s", err, out.String())
	}
	j, m = mustReopen(t, testOptions(fs))
	if m.String() != want {
		t.Fatalf("after the loss\n%s want\n%s", m, want)
	}
	mustClose(t, j)
}

// TestMissingFiles checks that Open reports a missing file, and that accepting the loss keeps the
// state and does not reuse revisions.
func TestMissingFiles(t *testing.T) {
	for _, name := range []string{lockFile, labelsFile, controlFile} {
		for _, end := range []string{closed, killed} {
			t.Run(name+" "+end, func(t *testing.T) {
				fs, _, last := lossSubject(t, end, "b")
				_, before := mustReopen(t, testOptions(fs.Clone()))
				must.Succeed(t, fs.Remove(filepath.Join(testDir, name)))
				checkLoss(t, fs, filepath.Join(testDir, name))
				o := testOptions(fs)
				o.AcceptDataLoss = true
				j, m := mustReopen(t, o)
				if m.newest < last || m.String() != before.String() {
					t.Errorf("the state is at %d, was at %d\n%s want\n%s", m.newest, last, m, before)
				}
				if name == controlFile && m.base < last+restoreRevisionGap {
					t.Errorf("the state is at %d, which may have been given out", m.base)
				}
				mustClose(t, j)
				j, _ = mustReopen(t, testOptions(fs))
				mustClose(t, j)
			})
		}
	}
}

// TestLossIsAcceptedEverywhere crashes at every operation while a loss is accepted. The next Open
// must skip the assigned revisions or report the loss again.
func TestLossIsAcceptedEverywhere(t *testing.T) {
	for at := 1; ; at++ {
		fs, newest, last := lossSubject(t, marked, "b")
		data := fs.Bytes(newest)
		fs.SetBytes(newest, data[:segmentHeader])
		before := fs.Ops()
		fs.SetFault(failAt(before+at, vfs.ErrCrashed))
		o := testOptions(fs)
		o.AcceptDataLoss = true
		j, _, err := reopen(o)
		if err == nil {
			err = j.Close()
		}
		if err == nil {
			if at < 15 {
				t.Fatalf("only %d operations", at)
			}
			return
		}
		fs = fs.Crash(nil)
		j, m, err := reopen(testOptions(fs))
		if err == nil {
			if m.base <= last {
				t.Fatalf("operation %d: opens at %d without a word", at, m.base)
			}
			mustClose(t, j)
		}
		if err != nil && !errors.Is(err, ErrDataLoss) {
			t.Fatalf("operation %d: %v", at, err)
		}
		checkRevisionGap(t, fs, last)
	}
}

// TestUnsyncedLossSkipsRevisions checks that startup under SyncNone skips revisions after a power
// loss, because assigned revisions may be lost. If only the process was killed, it must not skip
// any.
func TestUnsyncedLossSkipsRevisions(t *testing.T) {
	for _, boot := range []string{"this", "another"} {
		fs := vfs.NewMem()
		o := testOptions(fs)
		o.Sync = SyncNone
		j, m := mustReopen(t, o)
		for range 20 {
			mustAppend(t, j, put("a", strings.Repeat("a", 300)))
		}
		last := m.newest
		after := fs.Clone() // the process was killed
		if boot == "another" {
			after = fs.Crash(nil)
		}
		o = testOptions(after)
		o.Sync, o.bootID = SyncNone, boot
		j, m = mustReopen(t, o)
		if boot == "this" && m.newest != last || boot == "another" && m.newest <= last {
			t.Errorf("boot %s: at %d, was at %d", boot, m.newest, last)
		}
		mustClose(t, j)
		j, _ = mustReopen(t, testOptions(after))
		mustClose(t, j)
	}
}

func TestRevisionsAreReserved(t *testing.T) {
	fs := vfs.NewMem()
	j, m := mustReopen(t, testOptions(fs))
	j.inventory.newest += revisionReservation - 3 // as if they had been assigned
	for range 10 {
		mustAppend(t, j, put("a", "1"))
		got, fault, err := readControl(fs.Clone(), testDir)
		if err != nil || fault != nil || got.maxRevision < m.newest {
			t.Fatalf("revision %d is given out, %d are reserved: %v %v", m.newest, got.maxRevision, fault, err)
		}
	}
}

func TestStartsOnFullDisk(t *testing.T) {
	for _, end := range []string{closed, marked, killed} {
		fs, _, last := lossSubject(t, end, "b")
		fs.SetFault(failOn("create", syscall.ENOSPC))
		fs.SetBudget(fs.Used())
		j, m := mustReopen(t, testOptions(fs))
		if m.newest != last {
			t.Errorf("%s: at %d, was at %d", end, m.newest, last)
		}
		mustClose(t, j)
	}
}

// TestRotationIsPostponed checks that the journal survives temporary shortages of disk space or
// file descriptors.
func TestRotationIsPostponed(t *testing.T) {
	for _, step := range []string{"create", "edit", "syncdir", "write"} {
		for _, cause := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC} {
			if step == "write" && cause != syscall.ENOSPC {
				continue // writes do not return these errors
			}
			t.Run(fmt.Sprint(step, " ", cause), func(t *testing.T) {
				fs := vfs.NewMem()
				j, m := mustReopen(t, testOptions(fs))
				first := j.inventory.segments[0].path
				fs.SetFault(func(op vfs.Op) error {
					if op.Name == step && op.Path != first && strings.HasPrefix(op.Path, journalDir(testDir)) {
						return cause
					}
					return nil
				})
				for range 20 {
					mustAppend(t, j, put("a", strings.Repeat("a", 300)))
				}
				if len(j.inventory.segments) != 1 {
					t.Fatalf("%d segments", len(j.inventory.segments))
				}
				for _, after := range []*vfs.Mem{fs.Clone(), nil} {
					if after == nil {
						fs.SetFault(nil)
						mustAppend(t, j, put("b", "1"))
						if len(j.inventory.segments) != 2 {
							t.Fatal("no new segment when there is room")
						}
						after = fs.Crash(nil)
					}
					want := m.String()
					j, m := mustReopen(t, testOptions(after))
					if m.String() != want {
						t.Fatalf("recovered\n%s want\n%s", m, want)
					}
					mustClose(t, j)
				}
			})
		}
	}
}

func FuzzWatermark(f *testing.F) {
	good := watermark{sequence: 2, clean: true, newest: 3, bootID: "this"}.encode()
	f.Add(append(bytes.Clone(good), good...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		fs := vfs.NewMem()
		must.Succeed(t, fs.MkdirAll(testDir))
		fs.SetBytes(testDir+"/control", data)
		m, fault, err := readControl(fs, testDir)
		if err == nil && fault == nil && !bytes.Equal(m.encode(), data[:vfs.Sector]) && !bytes.Equal(m.encode(), data[vfs.Sector:]) {
			t.Errorf("%+v is read of %q", m, data)
		}
	})
}
