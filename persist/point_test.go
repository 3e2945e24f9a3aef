package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// A past is a data directory with a complete archive, a backup taken halfway, and the expected
// state after each write. It contains one batch per second.
type past struct {
	fs     *vfs.Mem
	backup []byte
	base   Revision // revision of the snapshot in the backup
	middle Revision // revision of the backup
	states []string // states by revision
	times  []time.Time
	now    time.Time
	newest Revision
	latest Revision // revision of the newest snapshot
	with   Transformer
}

func (p *past) options() Options {
	o := testOptions(p.fs)
	o.SegmentBytes, o.ArchiveBytes, o.Transformer = 900, 1<<20, p.with
	o.Now = func() time.Time { return p.now }
	return o
}

func makePast(t *testing.T) *past {
	t.Helper()
	p := &past{fs: vfs.NewMem(), states: []string{""}, times: []time.Time{{}}, now: testTime}
	j, m := mustReopen(t, p.options())
	j.Subscribe(func(batch []Commit, _ Revision) {
		for _, c := range batch {
			m.apply(c)
			p.states, p.times = append(p.states, m.String()), append(p.times, c.Time)
		}
	})
	r := rand.New(rand.NewPCG(5, 5))
	for step := range 30 {
		p.now = p.now.Add(time.Second)
		mustAppend(t, j, randomBatch(r, m)...)
		if step%7 == 5 {
			p.latest = m.newest
			must.Succeed(t, errors.Join(j.Snapshot(m.newest, m.newest, m.items()), j.writeWatermark(), j.Trim(m.newest)))
		}
		if step == 16 {
			var b bytes.Buffer
			must.Get(j.Backup(&b))(t)
			p.backup, p.base, p.middle = b.Bytes(), p.latest, m.newest
		}
	}
	p.newest = m.newest
	mustClose(t, j)
	if list, err := listHistory(p.fs, testDir); err != nil || list[0].first != 1 {
		t.Fatalf("the archive does not go back to the beginning: %v, %v", list, err)
	}
	if p.base < 3 || p.middle <= p.base || p.latest <= p.middle || p.newest <= p.latest {
		t.Fatalf("no such past: %+v", p)
	}
	return p
}

const restoredDir = "/restored"

func (p *past) restore(t *testing.T, fs *vfs.Mem, from Source) (Restored, string, error) {
	t.Helper()
	o := p.options()
	o.FS = fs
	done, err := restore(restoredDir, from, o)
	if err != nil {
		for _, path := range fs.Files() {
			if strings.HasPrefix(path, restoredDir) && !strings.HasSuffix(path, lockFile) {
				t.Fatalf("a restore that was refused left %s", path)
			}
		}
		return done, "", err
	}
	j := must.Get(Open(restoredDir, o))(t)
	m := newModel()
	_, err = j.Recover(Recovery{
		Item: func(i Item) error { m.state[i.Key] = i; return nil },
		Base: func(r Revision) error { m.newest = r; return nil },
	})
	must.Succeed(t, err)
	if m.newest < p.newest+restoreRevisionGap && from.Journal != "" {
		t.Errorf("the restored directory goes on at %d, up to %d was given out", m.newest, p.newest)
	}
	mustClose(t, j)
	return done, m.String(), nil
}

func TestPoints(t *testing.T) {
	t.Parallel()
	p := makePast(t)
	bare := p.fs.Clone()
	for _, path := range bare.Files() {
		if strings.HasPrefix(path, archiveDir(testDir)) {
			must.Succeed(t, bare.Remove(path))
		}
	}
	sources := []struct {
		name        string
		fs          *vfs.Mem
		backup      bool
		journal     string
		first, last Revision
	}{
		{"backup, archive and journal", p.fs, true, testDir, p.base, p.newest},
		{"backup", p.fs, true, "", p.base, p.middle},
		{"archive and journal", p.fs, false, testDir, 1, p.newest},
		{"journal", bare, false, testDir, p.latest, p.newest},
	}
	for _, s := range sources {
		source := func(to Point) Source {
			from := Source{Journal: s.journal, To: to}
			if s.backup {
				from.Backup = bytes.NewReader(p.backup)
			}
			return from
		}
		for n := Revision(1); n <= p.newest+1; n++ {
			done, got, err := p.restore(t, s.fs.Clone(), source(Point{Revision: n}))
			if n < s.first || n > s.last {
				if err == nil || !strings.Contains(err.Error(), "point") && !strings.Contains(err.Error(), fmt.Sprint("revision ", n)) {
					t.Errorf("%s: revision %d was restored, or refused with %v", s.name, n, err)
				}
				continue
			}
			if err != nil || got != p.states[n] || done.Revision != n || n != s.first && n != p.latest && !done.Time.Equal(p.times[n]) {
				t.Errorf("%s: revision %d: %+v, %v\n%s want\n%s", s.name, n, done, err, got, p.states[n])
			}
		}
		done, got, err := p.restore(t, s.fs.Clone(), source(Point{}))
		if err != nil || done.Revision != s.last || got != p.states[s.last] {
			t.Errorf("%s: the end: %+v, %v\n%s", s.name, done, err, got)
		}
		for n := s.first + 1; n <= s.last; n++ {
			last := n // the last revision of its second
			for last < s.last && p.times[last+1].Equal(p.times[n]) {
				last++
			}
			for _, later := range []time.Duration{0, 999 * time.Millisecond} {
				if last == p.middle && later > 0 && s.journal == "" {
					continue // writes after the backup are unknown
				}
				done, got, err := p.restore(t, s.fs.Clone(), source(Point{Time: p.times[n].Add(later)}))
				if err != nil && n == p.newest && later > 0 && strings.Contains(err.Error(), "after the last change") {
					continue // the time is in the future
				}
				if err != nil || done.Revision != last || got != p.states[last] {
					t.Errorf("%s: %v after revision %d: %+v, %v\n%s want\n%s", s.name, later, n, done, err, got, p.states[last])
				}
			}
		}
		for _, wrong := range []time.Time{testTime, p.times[s.first].Add(-time.Millisecond), p.now.Add(time.Hour)} {
			if done, _, err := p.restore(t, s.fs.Clone(), source(Point{Time: wrong})); err == nil {
				t.Errorf("%s: %v was restored as %+v", s.name, wrong, done)
			}
		}
	}
	if _, _, err := p.restore(t, p.fs.Clone(), Source{}); err == nil {
		t.Error("restored out of nothing")
	}
}

// TestPointsOfDamage truncates the journal at many offsets and flips bits in all files. Each point
// must be restored correctly or rejected. Points before the damage must be restored.
func TestPointsOfDamage(t *testing.T) {
	t.Parallel()
	p := makePast(t)
	step := 97
	if soak {
		step = 5
	}
	restored, refused := 0, 0
	try := func(label string, fs *vfs.Mem) {
		t.Helper()
		for _, n := range []Revision{p.middle + 1, p.latest + 1, p.newest, 0} {
			done, got, err := p.restore(t, fs.Clone(), Source{Backup: bytes.NewReader(p.backup), Journal: testDir, To: Point{Revision: n}})
			if err != nil {
				refused++
				continue
			}
			restored++
			want := n
			if n == 0 {
				want = p.newest
			}
			if done.Revision != want || got != p.states[want] {
				t.Fatalf("%s: revision %d is restored as %+v\n%s want\n%s", label, n, done, got, p.states[want])
			}
		}
	}
	at := 0
	for _, path := range p.fs.Files() {
		data := p.fs.Bytes(path)
		for ; at < len(data); at += step {
			fs := p.fs.Clone()
			fs.SetBytes(path, data[:at])
			try(fmt.Sprintf("%s cut at %d", path, at), fs)
			data[at] ^= 1 << (at % 8)
			fs.SetBytes(path, data)
			try(fmt.Sprintf("%s: a bit of byte %d", path, at), fs)
			data[at] ^= 1 << (at % 8)
		}
		at -= len(data)
	}
	if restored < 20 || refused < 20 {
		t.Errorf("%d points were restored, %d refused", restored, refused)
	}
	t.Logf("tried: %d points of damaged journals, %d of them refused", restored+refused, refused)

	list, err := listHistory(p.fs, testDir)
	must.Succeed(t, err)
	last := list[len(list)-1]
	fs := p.fs.Clone()
	data := fs.Bytes(last.path)
	data[segmentHeader+70] ^= 1
	fs.SetBytes(last.path, data)
	_, _, err = p.restore(t, fs.Clone(), Source{Journal: testDir, Backup: bytes.NewReader(p.backup)})
	if want := fmt.Sprintf("up to revision %d", last.first-1); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("damage behind revision %d: %v, want %q", last.first-1, err, want)
	}
}

// TestPointOfAnotherHistory checks that a backup cannot be combined with the journal of a different
// directory, even if the revisions are contiguous.
func TestPointOfAnotherHistory(t *testing.T) {
	p, other := makePast(t), makePast(t)
	_, _, err := p.restore(t, other.fs, Source{Backup: bytes.NewReader(p.backup), Journal: testDir, To: Point{Revision: p.newest}})
	if err == nil || !strings.Contains(err.Error(), "different data directories") {
		t.Errorf("a backup with the journal of another history: %v", err)
	}
	etcd := Source{Backup: bytes.NewReader(unnamed(t)), Journal: testDir}
	if _, _, err := p.restore(t, p.fs.Clone(), etcd); err == nil || !strings.Contains(err.Error(), "names no data directory") {
		t.Errorf("a backup that names no history: %v", err)
	}
	// A restored directory also starts a new history.
	fs := p.fs.Clone()
	if _, _, err := p.restore(t, fs, Source{Backup: bytes.NewReader(p.backup)}); err != nil {
		t.Fatal(err)
	}
	o := p.options()
	o.FS = fs
	if _, err := restore("/again", Source{Backup: bytes.NewReader(p.backup), Journal: restoredDir}, o); err == nil {
		t.Error("the journal of what was restored goes on where the backup ends")
	}
}

func unnamed(t *testing.T) []byte {
	t.Helper()
	j, _ := mustReopen(t, testOptions(vfs.NewMem()))
	mustAppend(t, j, put("a", "1"))
	delete(*j.labels.values.Load(), historyLabel)
	var b bytes.Buffer
	must.Get(j.Backup(&b))(t)
	mustClose(t, j)
	return b.Bytes()
}

func TestPointWhileInUse(t *testing.T) {
	p := makePast(t)
	o := p.options()
	o.Now = time.Now
	j, m := mustReopen(t, o)
	begun, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		r := rand.New(rand.NewPCG(6, 6))
		for step := range 300 {
			if _, err := j.Append(randomBatch(r, m)); err != nil {
				t.Error(err)
			}
			if step%3 == 2 {
				if err := errors.Join(j.Snapshot(m.newest, m.newest, m.items()), j.writeWatermark(), j.Trim(m.newest)); err != nil {
					t.Error(err)
				}
			}
			if step == 5 {
				close(begun)
			}
		}
	}()
	<-begun
	for n := 0; ; n++ {
		want := p.middle + 1 + Revision(n)%(p.newest-p.middle)
		into := p.options()
		dir := fmt.Sprint(restoredDir, n)
		if _, err := restore(dir, Source{Backup: bytes.NewReader(p.backup), Journal: testDir, To: Point{Revision: want}}, into); err != nil {
			t.Fatalf("revision %d: %v", want, err)
		}
		db, _, err := loadSnapshot(p.fs, dir, want+p.given(t, dir, want))
		must.Succeed(t, err)
		state := map[string]Item{}
		must.Succeed(t, errors.Join(eachItem(db, func(i Item) error { state[i.Key] = i; return nil }), db.Close()))
		if got := render(state); got != p.states[want] {
			t.Fatalf("revision %d is restored as\n%s want\n%s", want, got, p.states[want])
		}
		select {
		case <-done:
			mustClose(t, j)
			return
		default:
		}
	}
}

// given returns the number of revisions by which the snapshot of a restored directory exceeds at.
func (p *past) given(t *testing.T, dir string, at Revision) Revision {
	t.Helper()
	list, err := listSnapshots(p.fs, dir)
	if err != nil || len(list) != 1 {
		t.Fatalf("snapshots %v, %v", list, err)
	}
	return list[0] - at
}

// TestRestorePointCrash interrupts a point-in-time restore at every operation. Afterward, the
// restored directory must be complete, or Open must reject it and a second restore must succeed.
// The source must not change.
func TestRestorePointCrash(t *testing.T) {
	t.Parallel()
	p := makePast(t)
	source := func() Source {
		return Source{Backup: bytes.NewReader(p.backup), Journal: testDir, To: Point{Revision: p.latest - 1}}
	}
	count := p.fs.Clone()
	begin := count.Ops()
	if _, _, err := p.restore(t, count, source()); err != nil {
		t.Fatal(err)
	}
	for at := begin + 1; at <= count.Ops(); at++ {
		fs := p.fs.Clone()
		fs.SetFault(func(op vfs.Op) error {
			if op.N >= at {
				return vfs.ErrCrashed
			}
			return nil
		})
		o := p.options()
		o.FS = fs
		if _, err := restore(restoredDir, source(), o); err == nil {
			break // later operations belong to the check of the first run
		}
		after := fs.Crash(nil)
		o.FS = after.Clone()
		if j, err := Open(restoredDir, o); err == nil {
			if _, err := j.Recover(Recovery{Item: func(Item) error { return nil }}); err != nil {
				t.Fatalf("operation %d: opens, and then: %v", at, err)
			}
			mustClose(t, j)
		}
		names, err := after.ReadDir(restoredDir)
		if err == nil && len(names) > 0 && after.Bytes(restoredDir+"/format") != nil && after.Bytes(restoredDir+"/restoring") == nil {
			continue // the directory is complete
		}
		if _, got, err := p.restore(t, after, source()); err != nil || got != p.states[p.latest-1] {
			t.Fatalf("operation %d: restored again as\n%s, %v", at, got, err)
		}
		o.FS = after
		if ok, err := verify(testDir, io.Discard, Checks{}, o); err != nil || !ok {
			t.Fatalf("operation %d: the source is damaged, %v", at, err)
		}
	}
}
