package persist

import (
	"fmt"
	"path/filepath"
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
