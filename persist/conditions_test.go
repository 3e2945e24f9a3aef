package persist

import (
	"errors"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// unapplied is a journal with a simulated caller, which applies only the batches that the test
// selects.
type unapplied struct {
	*Journal
	current map[string]Revision
	applied Revision
}

func (u *unapplied) CurrentRevision(key string) Revision { return u.current[key] }

func (u *unapplied) AppliedRevision() Revision { return u.applied }

func (*unapplied) Rebuild(Revision, func(func(Item) error) error) error { return nil }

func newUnapplied(t *testing.T) *unapplied {
	t.Helper()
	u := &unapplied{current: map[string]Revision{}}
	var err error
	if u.Journal, err = Open(testDir, testOptions(vfs.NewMem())); err != nil {
		t.Fatal(err)
	}
	must.Get(u.Recover(Recovery{State: u}))(t)
	return u
}

// TestConditionsOnUnappliedWrites checks conditions on batches that the caller has not applied yet.
// A rejected write must return the revision to wait for.
func TestConditionsOnUnappliedWrites(t *testing.T) {
	t.Parallel()
	u := newUnapplied(t)
	defer mustClose(t, u.Journal)
	try := func(key string, revision Revision, del bool, want Result) {
		t.Helper()
		w := Write{Key: key, RevisionOffset: -1, Delete: del, Conditions: []Condition{{key, revision}}}
		if got := mustAppend(t, u.Journal, w)[0]; got != want {
			t.Fatalf("%s at %d: %+v, want %+v", key, revision, got, want)
		}
	}
	try("a", 0, false, Result{Revision: 1})
	try("a", 0, false, Result{1, ErrCondition}) // exists, but is not applied
	try("a", 1, false, Result{Revision: 2})
	u.current["a"], u.applied = 1, 1
	try("a", 1, false, Result{2, ErrCondition}) // 2 is newer than the applied state
	try("a", 2, true, Result{Revision: 3})
	try("a", 2, false, Result{3, ErrCondition}) // deleted by 3
	u.current["a"], u.applied = 2, 2
	try("a", 0, false, Result{Revision: 4})
	u.current["a"], u.applied = 4, 4
	try("a", 3, false, Result{0, ErrCondition}) // the caller has applied the delete
	try("a", 4, false, Result{Revision: 5})
	if n := len(u.states.batches); n != 1 {
		t.Errorf("%d batches are remembered, want the one that is not applied", n)
	}
}

// TestBasedOn checks that a write is rejected if its base is a delete, was rejected, or is not the
// latest write of the key.
func TestBasedOn(t *testing.T) {
	t.Parallel()
	on := func(value string, base int, conditions ...Condition) Write {
		w := put("a", value)
		w.BasedOn, w.Conditions = base, conditions
		return w
	}
	for name, test := range map[string]struct {
		batch []Write
		want  []Result
		state string
	}{
		"a chain":                  {[]Write{on("1", 0), on("2", 1), on("3", 2)}, []Result{{Revision: 1}, {Revision: 2}, {Revision: 3}}, "a@3=3\n"},
		"a chain without its base": {[]Write{on("1", 0, Condition{"a", 7}), on("2", 1), on("3", 2)}, []Result{{0, ErrCondition}, {0, ErrCondition}, {0, ErrCondition}}, ""},
		"two chains": {
			[]Write{on("1", 0, Condition{"a", 0}), on("x", 0, Condition{"a", 0}), on("2", 1), on("y", 2)},
			[]Result{{Revision: 1}, {1, ErrCondition}, {Revision: 2}, {2, ErrCondition}}, "a@2=2\n",
		},
		"another one between": {[]Write{on("1", 0), on("2", 0), on("3", 1)}, []Result{{Revision: 1}, {Revision: 2}, {2, ErrCondition}}, "a@2=2\n"},
		"a deleted base": {
			[]Write{{Key: "a", Delete: true, RevisionOffset: -1}, on("2", 1)}, []Result{{Revision: 1}, {1, ErrCondition}}, "",
		},
	} {
		j, m := mustReopen(t, testOptions(vfs.NewMem()))
		if got := mustAppend(t, j, test.batch...); !slices.Equal(got, test.want) || m.String() != test.state {
			t.Errorf("%s: %+v, want %+v; state %q", name, got, test.want, m)
		}
		mustClose(t, j)
	}
	j, _ := mustReopen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, j)
	if _, err := j.Append([]Write{on("1", 1)}); err == nil || errors.Is(err, ErrFailed) {
		t.Errorf("a write that is based on itself: %v", err)
	}
}

// TestSubscriberGetsWatermark checks that the subscriber receives the revision of the last commit
// with each batch.
func TestSubscriberGetsWatermark(t *testing.T) {
	t.Parallel()
	u := newUnapplied(t)
	defer mustClose(t, u.Journal)
	u.Subscribe(func(batch []Commit, upTo Revision) {
		if last := batch[len(batch)-1].Revision; upTo != last {
			t.Errorf("up to %d, but the last is %d", upTo, last)
		}
		u.applied = upTo
	})
	mustAppend(t, u.Journal, put("a", "1"), put("b", "2"))
	mustAppend(t, u.Journal, put("a", "3"))
	if u.applied != 3 {
		t.Errorf("up to %d, want 3", u.applied)
	}
}
