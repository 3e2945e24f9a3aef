package etcd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

// A member is a log and the state received by its subscriber.
type member struct {
	t *testing.T
	*Log
	mu        sync.Mutex
	state     map[string]persist.Commit
	commits   []persist.Commit
	upTo      persist.Revision
	history   []persist.Commit // commits of the recovery
	after     persist.Revision
	rebuilds  int
	onHistory func(persist.Commit)
}

func open(t *testing.T, o Options) *member {
	t.Helper()
	return openWith(t, o, nil)
}

func openWith(t *testing.T, o Options, onHistory func(persist.Commit)) *member {
	t.Helper()
	m := openPaused(t, o, onHistory)
	m.Subscribe(m.receive)
	return m
}

// openPaused opens a log that receives no changes from other writers until resume is called.
func openPaused(t *testing.T, o Options, onHistory func(persist.Commit)) *member {
	t.Helper()
	l, err := Open(context.Background(), o)
	must.Succeed(t, err)
	m := &member{t: t, Log: l, state: map[string]persist.Commit{}, onHistory: onHistory}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	var base persist.Revision
	m.upTo, err = l.Recover(persist.Recovery{
		Item: func(i persist.Item) error {
			m.state[i.Key] = persist.Commit{Key: i.Key, Value: i.Value, Revision: i.Revision, Err: i.Err}
			return nil
		},
		HistoryAfter: func(r persist.Revision) { m.after, m.history = r, nil },
		Base:         func(r persist.Revision) error { base = r; return nil },
		Commit: func(c persist.Commit) error {
			if m.history = append(m.history, c); m.onHistory != nil {
				m.onHistory(c)
			}
			if c.Revision > base {
				m.apply(c)
			}
			return nil
		},
		State: m,
	})
	must.Succeed(t, err)
	l.subscriber = m.receive
	return m
}

func (m *member) resume() { m.running.Go(m.follow) }

func (m *member) receive(batch []persist.Commit, upTo persist.Revision) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range batch {
		if c.Revision <= m.upTo || c.Revision > upTo {
			m.t.Errorf("revision %d after %d, up to %d", c.Revision, m.upTo, upTo)
		}
		m.upTo = c.Revision
		m.commits = append(m.commits, c)
		m.apply(c)
	}
	m.upTo = upTo
}

func (m *member) apply(c persist.Commit) {
	if m.state[c.Key] = c; c.Delete {
		delete(m.state, c.Key)
	}
}

func (m *member) CurrentRevision(key string) persist.Revision {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state[key].Revision
}

func (m *member) AppliedRevision() persist.Revision {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.upTo
}

func (m *member) Rebuild(upTo persist.Revision, items func(func(persist.Item) error) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	state := map[string]persist.Commit{}
	err := items(func(i persist.Item) error {
		state[i.Key] = persist.Commit{Key: i.Key, Value: i.Value, Revision: i.Revision}
		return nil
	})
	if err == nil {
		m.state, m.upTo, m.commits = state, upTo, nil
		m.rebuilds++
	}
	return err
}

func (m *member) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines []string
	for key, c := range m.state {
		lines = append(lines, fmt.Sprintf("%s=%s@%d", key, c.Value, c.Revision))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (m *member) revision(key string) persist.Revision {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state[key].Revision
}

// append appends a batch and returns "ok" or the error of each write.
func (m *member) append(batch ...persist.Write) string {
	m.t.Helper()
	results := must.Get(m.Append(batch))(m.t)
	var out []string
	for _, r := range results {
		switch {
		case r.Err == nil:
			out = append(out, "ok")
		default:
			out = append(out, strings.TrimPrefix(r.Err.Error(), "persist: "))
		}
	}
	return strings.Join(out, ", ")
}

func (m *member) await() {
	m.t.Helper()
	eventually(m.t, "a confirmation", func() bool { _, err := m.Current(context.Background()); return err == nil })
}

func put(key, value string, conditions ...persist.Condition) persist.Write {
	head := `{"v":"`
	return persist.Write{Key: key, Value: []byte(head + `","x":"` + value + `"}`), RevisionOffset: len(head), Conditions: conditions}
}

func create(key, value string) persist.Write { return put(key, value, at(key, 0)) }

func at(key string, revision persist.Revision) persist.Condition {
	return persist.Condition{Key: key, Revision: revision}
}

func same(t *testing.T, desc, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant\n%s", desc, got, want)
	}
}

const refused = "condition does not hold"

func TestAppend(t *testing.T) {
	t.Parallel()
	o := Options{Endpoints: etcdtest.Start(t, 1).URLs()}
	a, b := open(t, o), open(t, o)
	same(t, "creates", a.append(create("/c/n/a", "1"), create("/c/n/b", "1"), create("/c/n/a", "2")), "ok, ok, "+refused)
	b.await()
	same(t, "the other", b.text(), a.text())
	ra := b.revision("/c/n/a")
	if want := fmt.Sprintf(`{"v":"%d","x":"1"}`, ra); string(b.state["/c/n/a"].Value) != want {
		t.Errorf("the value is %s, want %s", b.state["/c/n/a"].Value, want)
	}
	based := put("/c/n/a", "3")
	based.BasedOn = 1
	again := put("/c/n/a", "4")
	again.BasedOn = 2
	same(t, "a chain", b.append(put("/c/n/a", "2", at("/c/n/a", ra)), based, again), "ok, ok, ok")
	same(t, "a stale chain", a.append(put("/c/n/a", "5", at("/c/n/a", ra)), based), refused+", "+refused)
	a.await()
	same(t, "after a chain", a.text(), b.text())
	part := put("/p/x", "1")
	part.With = 1
	whole := put("/c/n/w", "1", at("/c/n/w", 0), at("/p/x", 0))
	same(t, "a whole", a.append(whole, part), "ok, ok")
	same(t, "a whole that is stale", b.append(whole, part), refused+", "+refused)
	// A write that depends on an earlier write of its batch must see it.
	gone := persist.Write{Key: "/namespaces/n", Delete: true, Value: []byte(`{"v":""}`), RevisionOffset: 6}
	same(t, "a namespace", a.append(create("/namespaces/n", "1")), "ok")
	n := a.revision("/namespaces/n")
	gone.Conditions = []persist.Condition{at("/namespaces/n", n)}
	same(t, "into what goes", a.append(gone, put("/c/n/late", "1", at("/c/n/late", 0), at("/namespaces/n", n))), "ok, "+refused)
	b.await()
	last := b.commits[len(b.commits)-1]
	if want := fmt.Sprintf(`{"v":"%d"}`, last.Revision); !last.Delete || string(last.Value) != want {
		t.Errorf("the last commit is %+v (%s), want a deletion with %s", last, last.Value, want)
	}
	same(t, "in the end", b.text(), a.text())
	c := open(t, o)
	same(t, "a new one", c.text(), a.text())
	same(t, "the history of a new one", commitsText(c.history), commitsText(b.commits))
	same(t, "its beginning", fmt.Sprint(c.after), fmt.Sprint(c.revisions.upTo(0)))
}

func commitsText(commits []persist.Commit) string {
	var lines []string
	for _, c := range commits {
		lines = append(lines, fmt.Sprintf("%d %s %s %v %q", c.Revision, c.Key, c.Value, c.Delete, c.Metadata))
	}
	return strings.Join(lines, "\n")
}

func TestClaims(t *testing.T) {
	t.Parallel()
	o := Options{Endpoints: etcdtest.Start(t, 1).URLs()}
	a, b := open(t, o), open(t, o)
	claims := func(w persist.Write, names ...string) persist.Write {
		for _, name := range names {
			w.Claims = append(w.Claims, persist.Claim{Name: strings.TrimPrefix(name, "-"), Release: name[0] == '-'})
		}
		return w
	}
	same(t, "two of one", a.append(claims(create("/s/1", "x"), "a", "b"), claims(create("/s/2", "x"), "b")), "ok, "+refused)
	same(t, "of another log, before it knows", b.append(claims(create("/s/3", "x"), "a")), refused)
	b.await()
	same(t, "of another log", b.append(claims(create("/s/3", "x"), "a")), refused)
	same(t, "again", b.append(claims(put("/s/1", "y", at("/s/1", b.revision("/s/1"))), "a")), "ok")
	same(t, "given back and taken in one batch", b.append(claims(put("/s/1", "z", at("/s/1", b.revision("/s/1"))), "-a"), claims(create("/s/3", "x"), "a")), "ok, ok")
	a.await()
	same(t, "of a key that goes", a.append(persist.Write{Key: "/s/1", Delete: true, RevisionOffset: -1, Conditions: []persist.Condition{at("/s/1", a.revision("/s/1"))}}), "ok")
	part := claims(put("/ip/a", "x"), "a")
	part.With = 1
	same(t, "from the whole to its part", a.append(claims(put("/s/3", "y", at("/s/3", a.revision("/s/3")), at("/ip/a", 0)), "-a"), part), "ok, ok")
	c := open(t, o)
	var held []string
	for name, h := range c.claims.holders {
		held = append(held, name+"="+h.holder)
	}
	same(t, "held in the end", strings.Join(held, " "), "a=/ip/a")
}
