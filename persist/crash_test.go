package persist

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

func TestDamagedSnapshotFallsBack(t *testing.T) {
	fs := vfs.NewMem()
	j, m := mustReopen(t, testOptions(fs))
	mustAppend(t, j, put("a", "1"), put("b", "2"))
	must.Succeed(t, j.Snapshot(2, 1, m.items()))
	mustAppend(t, j, put("c", "3"))
	mustClose(t, j)
	path := snapshotPath(testDir, 2)
	// The journal still begins with segment 1, so it contains all revisions.
	data := fs.Bytes(path)
	data[len(data)/2] ^= 1
	fs.SetBytes(path, data)
	want := m.String()
	j, m = mustReopen(t, testOptions(fs))
	if m.String() != want || m.base != 0 {
		t.Fatalf("recovered\n%s from base %d, want\n%s", m, m.base, want)
	}
	mustAppend(t, j, put("d", "4"))
	mustSnapshot(t, j, m)
	mustClose(t, j)
	j, _ = mustReopen(t, testOptions(fs))
	mustClose(t, j)
}

// crashWorkload appends, rotates, takes snapshots and sets labels until a crash. acked is the last
// acknowledged state, and pending also includes the failed request, if any. seen is the newest
// assigned revision. A keyed changes its key in the middle.
func crashWorkload(fs *vfs.Mem, with Transformer) (acked, pending string, seen Revision) {
	o := testOptions(fs)
	if o.SegmentBytes, o.Transformer = 900, with; with != nil {
		o.ArchiveBytes = 2000 // one form has an archive, which fills up
	}
	j, m, err := reopen(o)
	if err != nil {
		return "", "", 0
	}
	r := rand.New(rand.NewPCG(3, 3))
	for step := range 14 {
		acked, seen = m.String(), m.newest
		if k, ok := with.(*keyed); ok {
			k.write = string("ab"[step/7])
		}
		if step%5 == 4 {
			if err := j.Snapshot(m.newest, m.newest-min(3, m.newest), m.items()); err != nil {
				return acked, acked, seen
			}
			if err := j.SetLabel("step", fmt.Sprint(step)); err != nil {
				return acked, acked, seen
			}
			j.refillBallast()
			if err := errors.Join(j.writeWatermark(), j.Trim(m.newest)); err != nil {
				return acked, acked, seen
			}
			continue
		}
		batch := randomBatch(r, m)
		want, _ := expect(m, batch)
		if _, err := j.Append(batch); err != nil {
			return acked, render(want), seen
		}
	}
	return m.String(), m.String(), m.newest
}

// TestCrashEverywhere crashes at every operation and loses all or a random part of the unsynced
// data. Acknowledged writes must survive. Any other write must survive completely or not at all. No
// revision may be assigned twice. After a snapshot, only the newest key may be needed.
func TestCrashEverywhere(t *testing.T) {
	t.Parallel()
	for i, with := range []Transformer{nil, placeMarker{}, &keyed{read: "ab"}} {
		crashes := crashEverywhere(t, i, with)
		t.Logf("tried: %d crashes", crashes)
	}
}

// crashEverywhere runs one variant of the workload. A short run crashes at every second operation,
// so that two variants together cost as much as one full run.
func crashEverywhere(t *testing.T, form int, with Transformer) (crashes int) {
	count := vfs.NewMem()
	crashWorkload(count, with)
	total := count.Ops()
	if total < 60 {
		t.Fatalf("the workload has only %d operations", total)
	}
	const variants = 4 // the first one loses all unsynced data
	for at := 1; at <= total; at++ {
		if !soak && at%2 != form%2 {
			continue
		}
		for variant := range uint64(variants) {
			if !soak && variant != uint64(at/2%variants) {
				continue
			}
			var chance *rand.Rand
			if variant > 0 {
				chance = rand.New(rand.NewPCG(uint64(at), variant))
			}
			fs := vfs.NewMem()
			fs.SetFault(failAt(at, vfs.ErrCrashed))
			acked, pending, seen := crashWorkload(fs, with)
			checkAfterCrash(t, fmt.Sprintf("form %d operation %d variant %d", form, at, variant), fs.Crash(chance), with, acked, pending, seen)
			crashes++
		}
	}
	return crashes
}

func checkAfterCrash(t *testing.T, name string, fs *vfs.Mem, with Transformer, acked, pending string, seen Revision) {
	t.Helper()
	o := testOptions(fs)
	o.Transformer = with
	j, m, err := reopen(o)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got := m.String(); got != acked && got != pending {
		t.Fatalf("%s: recovered\n%s want\n%s or\n%s", name, got, acked, pending)
	}
	if m.newest < seen {
		t.Fatalf("%s: revision %d was seen, the log is back at %d", name, seen, m.newest)
	}
	mustAppend(t, j, put("after", "crash"))
	if k, ok := with.(*keyed); ok {
		k.write, o.Transformer = "b", &keyed{read: "b"}
	}
	if err := j.Snapshot(m.newest, 0, m.items()); err != nil {
		t.Fatalf("%s: snapshot: %v", name, err)
	}
	want := m.String()
	o.FS = fs.Crash(nil)
	j, m, err = reopen(o)
	if err != nil || m.String() != want {
		t.Fatalf("%s: second recovery: %v", name, err)
	}
	mustClose(t, j)
}

// TestFaultsEverywhere fails each operation once without a crash. A short run fails every second
// operation. No acknowledged write may be lost, and subscribers must receive only durable writes.
func TestFaultsEverywhere(t *testing.T) {
	t.Parallel()
	count := vfs.NewMem()
	crashWorkload(count, nil)
	step := 2
	if soak {
		step = 1
	}
	failures := 0
	for at := 1; at <= count.Ops(); at += step {
		fs := vfs.NewMem()
		fs.SetFault(failAt(at, errors.New("input/output error")))
		acked, pending, seen := crashWorkload(fs, nil)
		checkAfterCrash(t, fmt.Sprintf("operation %d", at), fs.Crash(nil), nil, acked, pending, seen)
		failures++
	}
	t.Logf("tried: %d operations that fail", failures)
}
