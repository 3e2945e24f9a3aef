package persist

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestArchiveIsBounded checks that the archive keeps the newest segments up to its limit and
// without gaps, even after the limit changes.
func TestArchiveIsBounded(t *testing.T) {
	p := makePast(t)
	before := must.Get(listArchive(p.fs, testDir))(t)
	o := p.options()
	o.ArchiveBytes = 2500
	j, m := mustReopen(t, o)
	mustAppend(t, j, put("a", strings.Repeat("x", 1000)))
	must.Succeed(t, errors.Join(j.Snapshot(m.newest, m.newest, m.items()), j.Trim(m.newest)))
	mustAppend(t, j, put("b", "1"))
	must.Succeed(t, errors.Join(j.writeWatermark(), j.Trim(m.newest)))
	list := must.Get(listArchive(p.fs, testDir))(t)
	sum := int64(0)
	for _, s := range list {
		sum += int64(len(p.fs.Bytes(s.path)))
	}
	if len(list) == 0 || sum > 2500 || list[len(list)-1].first <= before[len(before)-1].first {
		t.Errorf("%d bytes in %v", sum, list)
	}
	mustClose(t, j)
	var out strings.Builder
	if ok, err := verify(testDir, &out, Checks{}, o); err != nil || !ok || !strings.Contains(out.String(), "written ") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestFullDiskTakesTheArchive(t *testing.T) {
	p := makePast(t)
	j, m := mustReopen(t, p.options())
	p.fs.SetBudget(p.fs.Used() + 100)
	mustAppend(t, j, put("large", strings.Repeat("x", 3000)))
	if list, err := listArchive(p.fs, testDir); err != nil || len(list) > 0 {
		t.Errorf("the archive is %v, %v", list, err)
	}
	want := m.String()
	fs := p.fs.Crash(nil)
	fs.SetBudget(-1)
	o := p.options()
	o.FS = fs
	if _, m, err := reopen(o); err != nil || m.String() != want {
		t.Errorf("after a crash: %v", err)
	}
	_ = j.Close() // the disk is still full
}

func TestVerifyFindsGaps(t *testing.T) {
	p := makePast(t)
	archived, err := listArchive(p.fs, testDir)
	if err != nil || len(archived) < 4 {
		t.Fatalf("only %d segments are archived: %v", len(archived), err)
	}
	active := must.Get(listSegments(p.fs, journalDir(testDir)))(t)
	remove := func(gone ...segment) func(fs *vfs.Mem) error {
		return func(fs *vfs.Mem) error {
			for _, s := range gone {
				if err := fs.Remove(s.path); err != nil {
					return err
				}
			}
			return nil
		}
	}
	last := archived[len(archived)-1]
	for name, c := range map[string]struct {
		harm func(fs *vfs.Mem) error
		want string // substring of the reported fault; "" for none
	}{
		"nothing": {func(*vfs.Mem) error { return nil }, ""},
		"first":   {remove(archived[0]), archived[1].path},
		"middle":  {remove(archived[2]), archived[3].path},
		"last":    {remove(last), active[0].path},
		"two":     {remove(archived[1], archived[2]), archived[3].path},
		"all":     {remove(archived...), active[0].path},
		"active segment in the archive, too": {func(fs *vfs.Mem) error {
			path := archiveDir(testDir) + "/" + filepath.Base(active[0].path)
			fs.SetBytes(path, fs.Bytes(active[0].path))
			return nil
		}, "already"},
		"archived segment under another name": {func(fs *vfs.Mem) error {
			fs.SetBytes(archiveDir(testDir)+"/"+fileName(archived[1].first+1, segmentSuffix), fs.Bytes(archived[1].path))
			return nil
		}, fileName(archived[1].first+1, segmentSuffix)},
	} {
		o := p.options()
		fs := p.fs.Clone()
		o.FS = fs
		must.Succeed(t, c.harm(fs))
		var out strings.Builder
		ok, err := verify(testDir, &out, Checks{}, o)
		if err != nil || ok != (c.want == "") || !strings.Contains(out.String(), c.want) || ok == strings.Contains(out.String(), "FAULT") {
			t.Errorf("%s: %t, %v\n%s", name, ok, err, out.String())
		}
	}
}

// TestArchiveHasNoGap checks that disabling the archive removes it completely. Verify must find no
// fault afterwards, even after the archive is enabled again or a data loss is accepted.
func TestArchiveHasNoGap(t *testing.T) {
	p := makePast(t)
	o := p.options()
	check := func(when string) {
		t.Helper()
		var out strings.Builder
		if ok, err := verify(testDir, &out, Checks{}, o); err != nil || !ok {
			t.Errorf("%s: %v\n%s", when, err, out.String())
		}
	}
	trim := func(j *Journal, m *model) {
		t.Helper()
		mustAppend(t, j, put("a", "1"))
		mustSnapshot(t, j, m)
		mustAppend(t, j, put("a", "2"))
		must.Succeed(t, errors.Join(j.writeWatermark(), j.Trim(m.newest)))
	}
	o.ArchiveBytes = 0
	j, m := mustReopen(t, o)
	trim(j, m)
	mustClose(t, j)
	if list, err := listArchive(p.fs, testDir); err != nil || len(list) > 0 {
		t.Errorf("without an archive there is %v, %v", list, err)
	}
	check("without an archive")
	o.ArchiveBytes = 1 << 20
	j, m = mustReopen(t, o)
	trim(j, m)
	trim(j, m)
	mustClose(t, j)
	check("with an archive again")
	must.Succeed(t, p.fs.Remove(testDir+"/"+controlFile))
	o.AcceptDataLoss = true
	j, m = mustReopen(t, o)
	o.AcceptDataLoss = false
	trim(j, m)
	trim(j, m)
	mustClose(t, j)
	check("after a loss")
}

// rotate fills, limits, removes and refills the archive over several runs, and changes the key
// between them. It records the state after each acknowledged revision.
func (p *past) rotate() error {
	r := rand.New(rand.NewPCG(7, 7))
	for life, bytes := range []int64{9000, 6000, 0, 9000} {
		o := p.options()
		o.ArchiveBytes, o.Transformer = bytes, &keyed{write: string("abab"[life]), read: "ab"}
		j, m, err := reopen(o)
		if err != nil {
			return err
		}
		j.Subscribe(func(batch []Commit, _ Revision) {
			for _, c := range batch {
				m.apply(c)
				p.states = append(p.states, m.String())
			}
			p.newest = m.newest
		})
		for step := range 9 {
			if _, err := j.Append(randomBatch(r, m)); err != nil {
				return err
			}
			if step%4 == 3 {
				if err := errors.Join(j.Snapshot(m.newest, m.newest, m.items()), j.writeWatermark(), j.Trim(m.newest)); err != nil {
					return err
				}
			}
		}
		if err := j.Close(); err != nil {
			return err
		}
	}
	return nil
}

// TestArchiveCrash crashes at every operation of a journal with an archive and rotating keys.
// Verify must find no gap. If a revision can be restored, all later ones must be restorable too,
// and all since the newest snapshot.
func TestArchiveCrash(t *testing.T) {
	t.Parallel()
	begin := func() *past {
		return &past{fs: vfs.NewMem(), states: []string{""}, now: testTime, with: &keyed{write: "b", read: "ab"}}
	}
	count := begin()
	must.Succeed(t, count.rotate())
	archived, restored := 0, 0
	for at := 1; at <= count.fs.Ops(); at++ {
		if !soak && at%5 != 0 {
			continue
		}
		p := begin()
		p.fs.SetFault(failAt(at, vfs.ErrCrashed))
		if err := p.rotate(); err == nil {
			t.Fatalf("operation %d: no crash", at)
		}
		var chance *rand.Rand
		if at%2 == 1 {
			chance = rand.New(rand.NewPCG(uint64(at), 1))
		}
		p.fs = p.fs.Crash(chance)
		j, m, err := reopen(p.options())
		if err != nil || m.newest < p.newest {
			t.Fatalf("operation %d: %v", at, err)
		}
		j.Subscribe(m.follow)
		mustAppend(t, j, put("after", "crash"))
		must.Succeed(t, errors.Join(j.Trim(m.newest), j.Close()))
		var out strings.Builder
		if ok, err := verify(testDir, &out, Checks{}, p.options()); err != nil || !ok {
			t.Fatalf("operation %d: %v\n%s", at, err, out.String())
		}
		if list := must.Get(listArchive(p.fs, testDir))(t); len(list) > 0 {
			archived++
		}
		first, latest := Revision(0), slices.Max(append(must.Get(listSnapshots(p.fs, testDir))(t), 1))
		for n := Revision(1); n <= p.newest; n++ {
			if !soak && first > 0 && n%4 > 0 && n < p.newest {
				continue
			}
			_, got, err := p.restore(t, p.fs.Clone(), Source{Journal: testDir, To: Point{Revision: n}})
			switch {
			case err != nil && (first > 0 || n >= latest):
				t.Fatalf("operation %d: revision %d of %d, first restored %d, snapshot %d: %v", at, n, p.newest, first, latest, err)
			case err != nil:
			case got != p.states[n]:
				t.Fatalf("operation %d: revision %d is restored as\n%s want\n%s", at, n, got, p.states[n])
			case first == 0:
				first = n
				fallthrough
			default:
				restored++
			}
		}
	}
	if archived < 10 {
		t.Errorf("only %d crashes left an archive", archived)
	}
	t.Logf("tried: %d revisions restored after crashes with an archive", restored)
}
