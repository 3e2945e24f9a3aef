package persist

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// A recorded journal also keeps all its commits in memory, as the reference for reads of the past.
type recorded struct {
	*Journal
	fs  *vfs.Mem
	o   Options
	m   *model
	now time.Time
	all []Commit // of all runs
}

func record(t *testing.T, archiveBytes int64) *recorded {
	t.Helper()
	r := &recorded{fs: vfs.NewMem(), now: testTime}
	r.o = Options{FS: r.fs, Logger: slog.New(slog.DiscardHandler), SegmentBytes: 4 << 10, ReserveBytes: 512, ArchiveBytes: archiveBytes, Now: func() time.Time { return r.now }, WatermarkInterval: -1}
	r.open(t)
	return r
}

func (r *recorded) open(t *testing.T) {
	t.Helper()
	r.o.FS = r.fs
	r.Journal, r.m = mustReopen(t, r.o)
	r.Subscribe(func(batch []Commit, upTo Revision) { r.m.follow(batch, upTo); r.all = append(r.all, batch...) })
}

func (r *recorded) run(t *testing.T, chance *rand.Rand) {
	t.Helper()
	r.now = r.now.Add(time.Second)
	mustAppend(t, r.Journal, randomBatch(chance, r.m)...)
}

func (r *recorded) compact(t *testing.T) {
	t.Helper()
	must.Succeed(t, errors.Join(r.Snapshot(r.m.newest, r.m.newest, r.m.items()), r.writeWatermark(), r.Trim(r.m.newest)))
}

func describe(c Commit) string {
	return fmt.Sprintf("%d %s %s delete=%t %q %d", c.Revision, c.Time.UTC().Format(time.TimeOnly), c.Key, c.Delete, c.Metadata, checksum(c.Value))
}

// check compares every read of the past with a plain scan of the recorded commits. It returns the
// revision after which the past is complete.
func (r *recorded) check(t *testing.T) Revision {
	t.Helper()
	p := must.Get(r.Past(context.Background()))(t)
	defer func() { must.Succeed(t, p.Close()) }()
	begin := p.Newest
	for _, upTo := range []Revision{1, p.Newest / 3, p.Newest / 2, p.Newest - 1, p.Newest, p.Newest + 10} {
		for k := range 9 {
			key := fmt.Sprintf("k%d", k) // k8 never exists
			var got, want []string
			from := must.Get(p.Commits(key, upTo, func(c Commit) bool { got = append(got, describe(c)); return true }))(t)
			if upTo == p.Newest {
				begin = from
			}
			for _, c := range slices.Backward(r.all) {
				if c.Key == key && from < c.Revision && c.Revision <= upTo {
					want = append(want, describe(c))
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s up to %d:\n%s\nwant\n%s", key, upTo, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if len(want) > 1 {
				n := 0
				must.Get(p.Commits(key, upTo, func(Commit) bool { n++; return n < 2 }))(t)
				if n != 2 {
					t.Errorf("%d commits instead of 2", n)
				}
			}
		}
	}
	for after := Revision(0); after <= p.Newest; after++ {
		var got, want []string
		err := p.Changes("k1", after, func(c Commit) error { got = append(got, describe(c)); return nil })
		for _, c := range r.all {
			if c.Key == "k1" && c.Revision > after {
				want = append(want, describe(c))
			}
		}
		if kept := after >= begin; kept != (err == nil) || err != nil && !errors.Is(err, ErrNotRetained) || kept && !slices.Equal(got, want) {
			t.Fatalf("changes after %d, of a past that begins after %d: %v\n%s\nwant\n%s", after, begin, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for i, c := range r.all {
		last := i == len(r.all)-1 || r.all[i+1].Time.After(c.Time)
		if at, err := p.RevisionAt(c.Time.Add(time.Millisecond)); last && c.Revision > begin && (err != nil || at != c.Revision) {
			t.Errorf("revision %d at the time of %d: %v", at, c.Revision, err)
		}
	}
	if _, err := p.RevisionAt(testTime); !errors.Is(err, ErrNotRetained) {
		t.Errorf("before the first commit: %v", err)
	}
	return begin
}

// TestPast compares the past with a plain scan while segments are sealed, archived and dropped, and
// after a crash.
func TestPast(t *testing.T) {
	for seed := range uint64(4) {
		chance := rand.New(rand.NewPCG(seed, 1))
		r := record(t, 24<<10)
		dropped := Revision(0)
		for step := range 60 {
			r.run(t, chance)
			switch chance.IntN(8) {
			case 0:
				r.compact(t)
			case 1:
				r.fs = r.fs.Crash(nil)
				r.open(t)
			}
			if step%3 == 0 {
				dropped = r.check(t)
			}
		}
		if dropped == 0 {
			t.Errorf("seed %d: nothing was dropped", seed)
		}
		r.compact(t)
		indexes := must.Get(r.fs.ReadDir(indexDir(testDir)))(t)
		if len(indexes) == 0 {
			t.Error("no index was stored")
		}
		for _, name := range indexes {
			first, _ := parseName(name, indexSuffix)
			if !slices.ContainsFunc(must.Get(listHistory(r.fs, testDir))(t), func(s segment) bool { return s.first == first }) {
				t.Errorf("%s has no segment", name)
			}
		}
		mustClose(t, r.Journal)
		var out strings.Builder
		if ok, err := verify(testDir, &out, Checks{}, r.o); err != nil || !ok {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
}

func longPast(t *testing.T) *recorded {
	t.Helper()
	r := record(t, 1<<20)
	chance := rand.New(rand.NewPCG(3, 3))
	for range 40 {
		r.run(t, chance)
	}
	r.compact(t)
	if begin := r.check(t); begin != 0 {
		t.Fatalf("the past begins after %d", begin)
	}
	mustClose(t, r.Journal)
	return r
}

func TestDamagedIndexIsRebuilt(t *testing.T) {
	r := longPast(t)
	names := must.Get(r.fs.ReadDir(indexDir(testDir)))(t)
	if len(names) < 2 {
		t.Fatal("too few indexes")
	}
	path, other := indexDir(testDir)+"/"+names[0], indexDir(testDir)+"/"+names[1]
	intact := slices.Clone(r.fs.Bytes(path))
	forge := func(at int, value uint32) []byte {
		forged := slices.Clone(intact)
		le.PutUint32(forged[at:], value)
		le.PutUint32(forged[8:], checksum(forged[12:indexHeader]))
		return forged
	}
	cases := map[string][]byte{
		"empty": nil, "short": intact[:len(intact)-indexEntry], "another segment's": r.fs.Bytes(other),
		"of another past": forge(40, 7), "of another version": forge(12, indexVersion+1), "of another length": forge(24, 1),
		"without batches": (&index{first: 2, last: 1}).header(checksum(nil)),
	}
	for at := range intact {
		flipped := slices.Clone(intact)
		flipped[at] ^= 4
		cases[fmt.Sprint("flipped at ", at)] = flipped
	}
	for name, content := range cases {
		r.fs.SetBytes(path, content)
		r.open(t)
		r.check(t)
		mustClose(t, r.Journal)
		if !slices.Equal(r.fs.Bytes(path), intact) {
			t.Errorf("%s: the index was not rebuilt", name)
		}
	}
}

// TestIndexIsOptional checks that the past is readable if no index can be stored, and that a
// journal whose past is never read has no index.
func TestIndexIsOptional(t *testing.T) {
	r := longPast(t)
	for _, name := range must.Get(r.fs.ReadDir(indexDir(testDir)))(t) {
		must.Succeed(t, r.fs.Remove(indexDir(testDir)+"/"+name))
	}
	r.open(t)
	r.run(t, rand.New(rand.NewPCG(1, 1)))
	r.compact(t)
	if names := must.Get(r.fs.ReadDir(indexDir(testDir)))(t); len(names) > 0 {
		t.Errorf("nobody has asked for %v", names)
	}
	r.fs.SetBudget(r.fs.Used() + 10)
	r.check(t)
	r.fs.SetBudget(-1)
	mustClose(t, r.Journal)
}

// TestPastOfDroppedSegments archives or drops a segment while the past is read. An archived segment
// must stay readable, and a dropped one must end the past without an error.
func TestPastOfDroppedSegments(t *testing.T) {
	for name, archiveBytes := range map[string]int64{"archived": 1 << 20, "dropped": 0} {
		r := record(t, archiveBytes)
		chance := rand.New(rand.NewPCG(9, 9))
		for range 40 {
			r.run(t, chance)
		}
		p := must.Get(r.Past(context.Background()))(t)
		r.compact(t)
		var got []Revision
		from := must.Get(p.Commits("k1", p.Newest, func(c Commit) bool { got = append(got, c.Revision); return true }))(t)
		if (from == 0) != (archiveBytes > 0) || len(got) == 0 && archiveBytes > 0 {
			t.Errorf("%s: %d commits after %d", name, len(got), from)
		}
		if err := p.Changes("k1", 0, func(Commit) error { return nil }); (err == nil) != (archiveBytes > 0) || err != nil && !errors.Is(err, ErrNotRetained) {
			t.Errorf("%s: %v", name, err)
		}
		must.Succeed(t, p.Close())
		mustClose(t, r.Journal)
	}
}

func TestPastReportsDamage(t *testing.T) {
	r := longPast(t)
	s := must.Get(listHistory(r.fs, testDir))(t)[0]
	b := r.fs.Bytes(s.path)
	b[segmentHeader+frameHeader+3] ^= 1
	r.fs.SetBytes(s.path, b)
	j, _ := mustReopen(t, r.o)
	p := must.Get(j.Past(context.Background()))(t)
	var corrupt *CorruptError
	_, err := p.Commits(r.all[0].Key, 1, func(Commit) bool { return true })
	if !errors.As(err, &corrupt) || corrupt.File != s.path {
		t.Errorf("the commit is read: %v", err)
	}
	if err := p.Changes("", 0, func(Commit) error { return nil }); !errors.As(err, &corrupt) {
		t.Errorf("the changes are read: %v", err)
	}
	must.Succeed(t, errors.Join(p.Close(), j.Close()))
}

func TestPastIsLimited(t *testing.T) {
	r := longPast(t)
	j, _ := mustReopen(t, r.o)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := must.Get(j.Past(ctx))(t)
	_, err := p.Commits("k1", p.Newest, func(Commit) bool { return true })
	_, timeErr := p.RevisionAt(r.now)
	for _, err := range []error{err, timeErr, p.Changes("", 0, func(Commit) error { return nil })} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it did not end: %v", err)
		}
	}
	must.Succeed(t, errors.Join(p.Close(), j.Close()))
}

func TestPastEndsAtLostRevisions(t *testing.T) {
	r := longPast(t)
	last := r.m.newest
	must.Succeed(t, r.fs.Remove(testDir+"/"+controlFile))
	r.o.AcceptDataLoss = true
	r.open(t)
	first := mustAppend(t, r.Journal, put("k1", "after"))[0].Revision
	archived := must.Get(listArchive(r.fs, testDir))(t)
	kept := archived[len(archived)-1].first
	p := must.Get(r.Past(context.Background()))(t)
	for _, c := range []struct{ upTo, from Revision }{{first, first - 1}, {first - 1, first - 1}, {last + 1, last + 1}, {kept, 0}} {
		n := 0
		from := must.Get(p.Commits("k1", c.upTo, func(Commit) bool { n++; return true }))(t)
		if from != c.from || (n > 0) != (c.upTo == first || c.upTo == kept) {
			t.Errorf("%d commits between %d and %d; lost are those after %d before %d", n, from, c.upTo, kept, first)
		}
	}
	for after, want := range map[Revision]error{kept: ErrNotRetained, last: ErrNotRetained, first - 1: nil} {
		if err := p.Changes("k1", after, func(Commit) error { return nil }); !errors.Is(err, want) {
			t.Errorf("changes after %d: %v", after, err)
		}
	}
	must.Succeed(t, errors.Join(p.Close(), r.Close()))
}
