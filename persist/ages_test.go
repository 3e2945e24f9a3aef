package persist

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestMixedAges combines snapshots, journal and control file from different times in one directory,
// like a copy of a live directory. Open must refuse the directory or recover the state of one point
// in time, no older than the watermark requires.
func TestMixedAges(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.SegmentBytes = 400
	j, m := mustReopen(t, o)
	var ages []*vfs.Mem
	var states []string
	for age := range 5 {
		mustAppend(t, j, put(fmt.Sprint("k", age), strings.Repeat("x", 300)), put("all", fmt.Sprint(age)))
		if age%2 == 1 {
			mustSnapshot(t, j, m)
			mustAppend(t, j, put("after", fmt.Sprint(age)))
		}
		must.Succeed(t, j.writeWatermark())
		must.Succeed(t, j.Trim(m.newest))
		ages, states = append(ages, fs.Clone()), append(states, m.String())
	}
	mustClose(t, j)
	opened, refused := 0, 0
	for n := range len(ages) * len(ages) * len(ages) {
		snapshots, journal, rest := n%len(ages), n/len(ages)%len(ages), n/len(ages)/len(ages)
		mixed := ages[rest].Clone()
		for _, path := range mixed.Files() {
			if dir := filepath.Dir(path); dir == journalDir(testDir) || dir == snapshotsDir(testDir) {
				must.Succeed(t, mixed.Remove(path))
			}
		}
		for of, dir := range map[int]string{snapshots: snapshotsDir(testDir), journal: journalDir(testDir)} {
			copyFiles(t, ages[of], mixed, dir)
		}
		if snapshots == journal { // part of a key of the map above
			copyFiles(t, ages[snapshots], mixed, snapshotsDir(testDir))
			copyFiles(t, ages[snapshots], mixed, journalDir(testDir))
		}
		o.FS = mixed
		name := fmt.Sprintf("snapshots of age %d, journal of %d, control file of %d", snapshots, journal, rest)
		j, m, err := reopen(o)
		if err != nil {
			if snapshots == journal && journal == rest {
				t.Errorf("%s: %v", name, err)
			}
			refused++
			continue
		}
		opened++
		mustClose(t, j)
		is := -1
		for age, state := range states {
			if m.String() == state {
				is = age
			}
		}
		if is < rest {
			t.Errorf("%s: opens with the state of age %d\n%s", name, is, m)
		}
	}
	if opened <= len(ages) || refused == 0 {
		t.Errorf("%d opened, %d were refused", opened, refused)
	}
}

func copyFiles(t *testing.T, from, to *vfs.Mem, dir string) {
	t.Helper()
	for _, path := range from.Files() {
		if filepath.Dir(path) != dir {
			continue
		}
		f := must.Get(to.Create(path))(t)
		must.Succeed(t, f.Close())
		to.SetBytes(path, from.Bytes(path))
	}
}

// TestHotCopy copies a directory while the journal writes, rotates, takes snapshots and trims. A
// seed interleaves the chunks read by the copy with the operations of the journal. Open must refuse
// the copy or recover the state after a batch, with all batches acknowledged before the copy began.
func TestHotCopy(t *testing.T) {
	t.Parallel()
	count := vfs.NewMem()
	crashWorkload(count, nil)
	var views []*vfs.Mem // the files before each operation
	var states []string  // after each batch
	var acked []int      // number of acknowledged states by view
	for n := 1; n <= count.Ops(); n++ {
		fs := vfs.NewMem()
		fs.SetFault(failAt(n, vfs.ErrCrashed))
		before, pending, _ := crashWorkload(fs, nil)
		for _, state := range []string{before, pending} {
			if !slices.Contains(states, state) {
				states = append(states, state)
			}
		}
		views, acked = append(views, fs.Clone()), append(acked, slices.Index(states, before))
	}
	copies := 400
	if soak {
		copies = 20_000
	}
	opened, refused := 0, 0
	for seed := range uint64(copies) {
		r := rand.New(rand.NewPCG(seed, 8))
		begin := r.IntN(len(views))
		o := testOptions(hotCopy(t, r, views[begin:]))
		j, m, err := reopen(o)
		if err != nil {
			refused++
			continue
		}
		opened++
		mustClose(t, j)
		if is := slices.Index(states, m.String()); is < acked[begin] {
			t.Errorf("seed %d: the copy begins at operation %d with state %d, and opens with state %d\n%s", seed, begin, acked[begin], is, m)
		}
	}
	if opened < copies/20 || refused < copies/20 {
		t.Errorf("%d copies opened, %d were refused", opened, refused)
	}
	t.Logf("tried: %d copies opened, %d refused", opened, refused)
}

// hotCopy copies the files of testDir, each chunk from one of the views, which follow each other.
func hotCopy(t *testing.T, r *rand.Rand, views []*vfs.Mem) *vfs.Mem {
	t.Helper()
	to, now, pace := vfs.NewMem(), 0, 1+r.IntN(6)
	must.Succeed(t, to.MkdirAll(testDir))
	view := func() *vfs.Mem {
		if r.IntN(pace) == 0 {
			now = min(now+r.IntN(3), len(views)-1)
		}
		return views[now]
	}
	dirs := []string{testDir, journalDir(testDir), snapshotsDir(testDir)}
	for _, d := range r.Perm(len(dirs)) {
		must.Succeed(t, to.MkdirAll(dirs[d]))
		var names []string
		for _, path := range view().Files() {
			if filepath.Dir(path) == dirs[d] && filepath.Base(path) != ballastFile {
				names = append(names, path)
			}
		}
		for _, n := range r.Perm(len(names)) {
			data := view().Bytes(names[n])
			if data == nil {
				continue // removed before it was opened
			}
			var copied []byte
			for len(copied) < len(data) {
				copied = append(copied, data[len(copied):min(len(data), len(copied)+256)]...)
				if later := view().Bytes(names[n]); later != nil {
					data = later
				}
			}
			to.SetBytes(names[n], copied)
		}
	}
	return to
}
