package persist

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/persist/vfs"
)

const testDir = "/data"

var testTime = time.Unix(1_700_000_000, 0)

func testOptions(fs vfs.FS) Options {
	return Options{
		FS: fs, SegmentBytes: 2048, ReserveBytes: 100, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Now: func() time.Time { return testTime }, WatermarkInterval: -1, bootID: "this",
	}
}

// A model is what a log must hold: the plain map.
type model struct {
	state   map[string]Item
	commits []Commit // all that were ever followed, in order
	base    Revision
	history []Commit // what recovery delivered
	newest  Revision
}

func newModel() *model { return &model{state: map[string]Item{}} }

func (m *model) apply(c Commit) {
	if c.Delete {
		delete(m.state, c.Key)
	} else {
		m.state[c.Key] = Item{c.Key, c.Value, c.Revision}
	}
	m.newest = c.Revision
}

func (m *model) follow(batch []Commit, _ Revision) {
	for _, c := range batch {
		m.apply(c)
		m.commits = append(m.commits, c)
	}
}

// items answers the state in ascending order of keys.
func (m *model) items() func(yield func(Item) bool) {
	state := maps.Clone(m.state)
	return func(yield func(Item) bool) {
		for _, k := range slices.Sorted(maps.Keys(state)) {
			if !yield(state[k]) {
				return
			}
		}
	}
}

func (m *model) String() string { return render(m.state) }

func render(state map[string]Item) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(state)) {
		fmt.Fprintf(&b, "%s@%d=%s\n", k, state[k].Revision, state[k].Value)
	}
	return b.String()
}

// reopen opens and recovers a journal into a fresh model.
func reopen(o Options) (*Journal, *model, error) {
	j, err := Open(testDir, o)
	if err != nil {
		return nil, nil, err
	}
	m := newModel()
	last := ""
	newest, err := j.Recover(Recovery{
		Item: func(i Item) error {
			if len(m.state) > 0 && i.Key <= last {
				return fmt.Errorf("item %q after %q", i.Key, last)
			}
			last = i.Key
			m.state[i.Key] = i
			return nil
		},
		Base: func(r Revision) error { m.base = r; m.newest = r; return nil },
		Commit: func(c Commit) error {
			if n := len(m.history); n > 0 && m.history[n-1].Revision+1 != c.Revision {
				return fmt.Errorf("revision %d after %d", c.Revision, m.history[n-1].Revision)
			}
			m.history = append(m.history, c)
			if c.Revision > m.base {
				m.apply(c)
			}
			return nil
		},
	})
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	if newest != m.newest {
		return nil, nil, errors.Join(fmt.Errorf("Recover says %d, its commits end with %d", newest, m.newest), j.Close())
	}
	j.Subscribe(m.follow)
	return j, m, nil
}

func mustReopen(t testing.TB, o Options) (*Journal, *model) {
	t.Helper()
	j, m, err := reopen(o)
	if err != nil {
		t.Fatal(err)
	}
	return j, m
}

func mustAppend(t testing.TB, j *Journal, batch ...Write) []Result {
	t.Helper()
	results, err := j.Append(batch)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func mustClose(t testing.TB, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func put(key, value string) Write { return Write{Key: key, Value: []byte(value), RevisionOffset: -1} }

func randomBatch(r *rand.Rand, m *model) []Write {
	batch := make([]Write, 1+r.IntN(4))
	for i := range batch {
		w := Write{Key: fmt.Sprintf("k%d", r.IntN(8)), Value: []byte(strings.Repeat("v", r.IntN(200))), RevisionOffset: -1}
		if r.IntN(3) == 0 {
			w.RevisionOffset = r.IntN(len(w.Value) + 1)
		}
		if r.IntN(4) == 0 {
			w.Value = make([]byte, r.IntN(1500)) // zeros look like unwritten sectors
		}
		if r.IntN(4) == 0 {
			w.Metadata = []byte("note")
		}
		w.RevisionOffset = min(w.RevisionOffset, len(w.Value))
		w.Delete = r.IntN(4) == 0
		if r.IntN(2) == 0 {
			c := Condition{Key: fmt.Sprintf("k%d", r.IntN(8))}
			c.Revision = m.state[c.Key].Revision
			if r.IntN(4) == 0 {
				c.Revision = Revision(r.IntN(5))
			}
			w.Conditions = []Condition{c}
		}
		batch[i] = w
	}
	return batch
}

// expect answers what a batch must do to a state.
func expect(m *model, batch []Write) (want map[string]Item, revisions []Revision) {
	want = maps.Clone(m.state)
	next := m.newest + 1
	for _, w := range batch {
		ok := true
		for _, c := range w.Conditions {
			ok = ok && want[c.Key].Revision == c.Revision
		}
		if !ok {
			revisions = append(revisions, 0)
			continue
		}
		value := string(w.Value)
		if w.RevisionOffset >= 0 {
			value = value[:w.RevisionOffset] + fmt.Sprint(next) + value[w.RevisionOffset:]
		}
		if w.Delete {
			delete(want, w.Key)
		} else {
			want[w.Key] = Item{w.Key, []byte(value), next}
		}
		revisions = append(revisions, next)
		next++
	}
	return want, revisions
}

// TestModel drives random batches, snapshots and reopens and compares with a plain map.
func TestModel(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewMem()
		j, m := mustReopen(t, testOptions(fs))
		var all []Commit
		for step := range 60 {
			switch r.IntN(10) {
			case 0:
				keep := Revision(r.IntN(int(m.newest) + 2))
				if err := j.Snapshot(m.newest, keep, m.items()); err != nil {
					t.Fatal(err)
				}
			case 1:
				mustClose(t, j)
				all = append(all, m.commits...)
				want := m.String()
				j, m = mustReopen(t, testOptions(fs))
				if got := m.String(); got != want {
					t.Fatalf("seed %d step %d: reopened as\n%s want\n%s", seed, step, got, want)
				}
				checkHistory(t, m.history, all)
			default:
				checkAppend(t, j, m, randomBatch(r, m))
			}
		}
		mustClose(t, j)
	}
}

func checkAppend(t *testing.T, j *Journal, m *model, batch []Write) {
	t.Helper()
	want, revisions := expect(m, batch)
	for i, res := range mustAppend(t, j, batch...) {
		if res.Revision != revisions[i] || (res.Err != nil) != (revisions[i] == 0) {
			t.Fatalf("write %d: got %+v, want revision %d", i, res, revisions[i])
		}
	}
	if got := m.String(); got != render(want) {
		t.Fatalf("state is\n%s want\n%s", got, render(want))
	}
}

// checkHistory compares the commits of a recovery with those that were followed.
func checkHistory(t *testing.T, got, all []Commit) {
	t.Helper()
	for _, c := range got {
		want := all[c.Revision-1]
		if c.Key != want.Key || string(c.Value) != string(want.Value) || c.Delete != want.Delete ||
			string(c.Metadata) != string(want.Metadata) || !c.Time.Equal(want.Time) || c.Index != -1 {
			t.Fatalf("recovered %+v, want %+v", c, want)
		}
	}
}

// TestRecentConditions checks conditions against batches that the caller has not applied yet.
func TestRecentConditions(t *testing.T) {
	current := map[string]Revision{}
	applied := Revision(0)
	j, err := Open(testDir, testOptions(vfs.NewMem()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Recover(Recovery{
		CurrentRevision: func(key string) Revision { return current[key] },
		AppliedRevision: func() Revision { return applied },
	}); err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, j)
	try := func(key string, rev Revision, del, ok bool) {
		t.Helper()
		w := Write{Key: key, RevisionOffset: -1, Delete: del, Conditions: []Condition{{key, rev}}}
		if got := mustAppend(t, j, w)[0]; (got.Err == nil) != ok {
			t.Fatalf("%s at %d: %+v, want ok=%v", key, rev, got, ok)
		}
	}
	try("a", 0, false, true)  // 1
	try("a", 0, false, false) // it exists, though not applied
	try("a", 1, false, true)  // 2
	current["a"], applied = 1, 1
	try("a", 1, false, false) // 2 is newer than what is applied
	try("a", 2, true, true)   // 3
	try("a", 2, false, false)
	current["a"], applied = 2, 2
	try("a", 0, false, true) // 4: deleted by 3
	current["a"], applied = 4, 4
	try("a", 4, false, true) // 5
	if n := len(j.recent.batches); n != 1 {
		t.Errorf("%d generations are remembered, want the unapplied one", n)
	}
}

func TestSecondOpener(t *testing.T) {
	for name, fs := range map[string]vfs.FS{"memory": vfs.NewMem(), "os": vfs.OS{}} {
		dir := testDir
		if name == "os" {
			dir = t.TempDir()
		}
		o := testOptions(fs)
		j, err := Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, o); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: second Open: %v, want ErrLocked", name, err)
		}
		mustClose(t, j)
		mustClose(t, j) // again: nothing
		j, err = Open(dir, o)
		if err != nil {
			t.Fatalf("%s: after Close: %v", name, err)
		}
		mustClose(t, j)
	}
}

func TestLabels(t *testing.T) {
	fs := vfs.NewMem()
	j, _ := mustReopen(t, testOptions(fs))
	if _, ok := j.Label("naming"); ok {
		t.Error("a label out of nowhere")
	}
	for _, v := range []string{"platform", "other"} {
		if err := j.SetLabel("naming", v); err != nil {
			t.Fatal(err)
		}
	}
	j, err := Open(testDir, testOptions(fs.Crash(nil)))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := j.Label("naming"); v != "other" || !ok {
		t.Errorf("after a crash the label is %q", v)
	}
	mustClose(t, j)
}

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

func TestOptionsValidate(t *testing.T) {
	_, err := Open(testDir, Options{FS: vfs.NewMem(), SegmentBytes: -1, Sync: "sometimes"})
	if err == nil || !strings.Contains(err.Error(), "negative") || !strings.Contains(err.Error(), "sometimes") {
		t.Errorf("faults reported: %v", err)
	}
}
