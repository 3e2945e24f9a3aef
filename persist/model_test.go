package persist

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// A model is the expected content of a log, as a plain map.
type model struct {
	state   map[string]Item
	commits []Commit // all received commits, in order
	base    Revision
	history []Commit // commits of the recovery
	newest  Revision
}

func newModel() *model { return &model{state: map[string]Item{}} }

func (m *model) apply(c Commit) {
	if c.Delete {
		delete(m.state, c.Key)
	} else {
		m.state[c.Key] = Item{Key: c.Key, Value: c.Value, Revision: c.Revision}
	}
	m.newest = c.Revision
}

func (m *model) follow(batch []Commit, _ Revision) {
	for _, c := range batch {
		m.apply(c)
		m.commits = append(m.commits, c)
	}
}

func (m *model) items() func(yield func(Item) bool) error {
	state := maps.Clone(m.state)
	return func(yield func(Item) bool) error {
		for _, k := range slices.Sorted(maps.Keys(state)) {
			if !yield(state[k]) {
				break
			}
		}
		return nil
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
			want[w.Key] = Item{Key: w.Key, Value: []byte(value), Revision: next}
		}
		revisions = append(revisions, next)
		next++
	}
	return want, revisions
}

func TestModel(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewMem()
		o := testOptions(fs)
		if seed%2 == 1 {
			o.Transformer = placeMarker{}
		}
		j, m := mustReopen(t, o)
		var all []Commit
		for step := range 60 {
			switch r.IntN(10) {
			case 0:
				keep := Revision(r.IntN(int(m.newest) + 2))
				must.Succeed(t, j.Snapshot(m.newest, keep, m.items()))
			case 1:
				mustClose(t, j)
				all = append(all, m.commits...)
				want := m.String()
				j, m = mustReopen(t, o)
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
		if (res.Err != nil) != (revisions[i] == 0) || res.Err == nil && res.Revision != revisions[i] {
			t.Fatalf("write %d: got %+v, want revision %d", i, res, revisions[i])
		}
	}
	if got := m.String(); got != render(want) {
		t.Fatalf("state is\n%s want\n%s", got, render(want))
	}
}

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
