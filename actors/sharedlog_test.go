package actors_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/persist"
)

// sharedKeys is a key-value store for many logs, like one etcd cluster for many servers. Each batch
// is a transaction with one revision of the store. A write's version combines that revision with
// its position in the batch.
type sharedKeys struct {
	mu      sync.Mutex
	grown   *sync.Cond // a transaction was added, or a log was closed
	counter uint64
	txns    []txn
	newest  map[string]persist.Commit // by key, including deleted ones
	holders map[string]string         // by claim

	refused int // number of refused writes
}

// A txn is the committed part of one batch.
type txn struct {
	owner   *sharedLog // the log that appended the batch
	upTo    persist.Revision
	commits []persist.Commit // with the positions in the batch as Index
}

// positionBits is the number of low bits of a version that hold the position of a write in its
// batch.
const positionBits = 7

func newSharedKeys() *sharedKeys {
	s := &sharedKeys{newest: map[string]persist.Commit{}, holders: map[string]string{}}
	s.grown = sync.NewCond(&s.mu)
	return s
}

func (s *sharedKeys) refusedWrites() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// commit commits the valid writes of a batch. It returns the results and the number of transactions
// so far. The caller must hold mu.
func (s *sharedKeys) commit(owner *sharedLog, batch []persist.Write) (results []persist.Result, seen int) {
	s.counter += 1 + s.counter%3 // other programs use the store, too
	results = make([]persist.Result, len(batch))
	t := txn{owner: owner, upTo: persist.Revision(s.counter<<positionBits | (1<<positionBits - 1))}
	for i := range batch {
		w := &batch[i]
		if beatenBy, ok := s.check(w, results); !ok {
			results[i] = persist.Result{Revision: beatenBy, Err: persist.ErrCondition}
			s.refused++
			continue
		}
		revision := persist.Revision(s.counter<<positionBits | uint64(i))
		results[i].Revision = revision
		c := persist.Commit{Revision: revision, Time: time.Now(), Index: i, Key: w.Key, Value: w.ValueAt(revision), Delete: w.Delete, Metadata: slices.Clone(w.Metadata)}
		s.newest[w.Key] = c
		s.claim(w)
		t.commits = append(t.commits, c)
	}
	s.txns = append(s.txns, t)
	s.grown.Broadcast()
	return results, len(s.txns)
}

// check reports whether a write may be committed, and otherwise returns the conflicting revision.
func (s *sharedKeys) check(w *persist.Write, results []persist.Result) (persist.Revision, bool) {
	if w.With > 0 {
		whole := results[w.With-1]
		return whole.Revision, whole.Err == nil
	}
	if w.BasedOn > 0 {
		if base := results[w.BasedOn-1]; base.Err != nil || s.newest[w.Key].Revision != base.Revision {
			return max(base.Revision, s.newest[w.Key].Revision), false
		}
	}
	for _, c := range w.Conditions {
		newest := s.newest[c.Key]
		have := newest.Revision
		if newest.Delete {
			have = 0
		}
		if have != c.Revision {
			return newest.Revision, false
		}
	}
	for _, c := range w.Claims {
		if holder, held := s.holders[c.Name]; held && !c.Release && holder != w.Key {
			return s.newest[holder].Revision, false
		}
	}
	return 0, true
}

func (s *sharedKeys) claim(w *persist.Write) {
	if w.Delete {
		maps.DeleteFunc(s.holders, func(_, holder string) bool { return holder == w.Key })
		return
	}
	for _, c := range w.Claims {
		if !c.Release {
			s.holders[c.Name] = w.Key
		} else if s.holders[c.Name] == w.Key {
			delete(s.holders, c.Name)
		}
	}
}

func (s *sharedKeys) write(batch ...persist.Write) []persist.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	results, _ := s.commit(nil, batch)
	return results
}

func (s *sharedKeys) commits() (all []persist.Commit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.txns {
		all = append(all, t.commits...)
	}
	return all
}

type sharedLog struct {
	store *sharedKeys
	// before is called before a batch is committed. It may simulate writes by other writers.
	before func(batch []persist.Write)
	// delay is called before each transaction is delivered, and may block.
	delay func()
	// fault returns the error of a batch: nil, ErrUnavailable or ErrUnknown.
	fault func() error
	// late decides when to commit a batch that gets ErrUnknown.
	late func() fate
	// faulty enables lost responses (misbehave).
	faulty atomic.Bool

	appends    sync.Mutex
	postponed  []persist.Write // to commit with the next Append
	subscriber func([]persist.Commit, persist.Revision)
	rebuild    func(upTo persist.Revision, items func(func(persist.Item) error) error) error
	// Guarded by store.mu:
	received  int          // number of received transactions
	foreign   map[int]bool // transactions that the log receives like those of another writer
	undecided int          // the next Append waits for this many transactions
	closed    bool
	done      chan struct{}
}

// fate determines when a batch with an unknown outcome is committed, if ever.
type fate int

const (
	committedNow fate = iota
	committedLate
	neverCommitted
)

func (s *sharedKeys) open() *sharedLog {
	return &sharedLog{
		store: s, before: func([]persist.Write) {}, delay: func() {}, fault: func() error { return nil },
		late: func() fate { return committedNow }, foreign: map[int]bool{}, done: make(chan struct{}),
	}
}

// Recover delivers the state at the middle of the history as a snapshot, and then the whole
// history.
func (l *sharedLog) Recover(r persist.Recovery) (persist.Revision, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.received, l.rebuild = len(l.store.txns), r.State.Rebuild
	state := map[string]persist.Item{}
	var base, last persist.Revision
	for _, t := range l.store.txns[:l.received/2] {
		base = t.upTo
		for _, c := range t.commits {
			if delete(state, c.Key); !c.Delete {
				state[c.Key] = persist.Item{Key: c.Key, Value: c.Value, Revision: c.Revision}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if err := r.Item(state[key]); err != nil {
			return 0, err
		}
	}
	if err := r.Base(base); err != nil {
		return 0, err
	}
	for _, t := range l.store.txns {
		last = t.upTo
		for _, c := range t.commits {
			c.Index = -1
			if err := r.Commit(c); err != nil {
				return 0, err
			}
		}
	}
	return last, nil
}

func (l *sharedLog) Subscribe(fn func([]persist.Commit, persist.Revision)) {
	l.subscriber = fn
	go l.follow()
}

func (l *sharedLog) follow() {
	defer close(l.done)
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	for {
		for l.received == len(l.store.txns) && !l.closed {
			l.store.grown.Wait()
		}
		if l.received == len(l.store.txns) {
			return
		}
		t, own := l.store.txns[l.received], !l.foreign[l.received]
		batch := slices.Clone(t.commits)
		for i := range batch {
			if t.owner != l || !own {
				batch[i].Index = -1
			}
		}
		l.store.mu.Unlock()
		l.delay()
		l.subscriber(batch, t.upTo)
		l.store.mu.Lock()
		l.received++
		l.store.grown.Broadcast()
	}
}

func (l *sharedLog) Append(batch []persist.Write) ([]persist.Result, error) {
	l.appends.Lock()
	defer l.appends.Unlock()
	l.before(batch)
	fault := l.fault()
	if fault == persist.ErrUnavailable {
		return nil, fault
	}
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if len(l.postponed) > 0 {
		l.commitUnknown(l.postponed)
		l.postponed = nil
	}
	l.await(l.undecided)
	if fault == persist.ErrUnknown {
		return l.appendUnknown(batch), nil
	}
	results, seen := l.store.commit(l, batch)
	if len(l.store.txns[seen-1].commits) > 0 {
		l.await(seen)
	}
	return results, nil
}

// appendUnknown returns ErrUnknown for each write of a batch. The caller must hold store.mu.
func (l *sharedLog) appendUnknown(batch []persist.Write) []persist.Result {
	switch l.late() {
	case committedNow:
		l.commitUnknown(batch)
	case committedLate:
		l.postponed = slices.Clone(batch)
	}
	results := make([]persist.Result, len(batch))
	for i := range results {
		results[i].Err = persist.ErrUnknown
	}
	return results
}

// commitUnknown commits a batch. The log will receive it like a batch of another writer.
func (l *sharedLog) commitUnknown(batch []persist.Write) {
	l.foreign[len(l.store.txns)] = true
	_, l.undecided = l.store.commit(l, batch)
}

// await blocks until the log has received the first seen transactions. The caller must hold
// store.mu.
func (l *sharedLog) await(seen int) {
	for l.received < seen {
		l.store.grown.Wait()
	}
}

func (*sharedLog) Snapshot(persist.Revision, persist.Revision, func(func(persist.Item) bool) error) error {
	return nil
}

func (*sharedLog) Trim(persist.Revision) error { return nil }

func (*sharedLog) Stats() persist.Stats { return persist.Stats{} }

func (l *sharedLog) Close() error {
	l.store.mu.Lock()
	l.closed = true
	l.store.grown.Broadcast()
	l.store.mu.Unlock()
	<-l.done
	return nil
}

// misbehave adds random delays, and randomly drops responses while faulty is set.
func (l *sharedLog) misbehave(seed uint64) {
	var mu sync.Mutex
	chance := rand.New(rand.NewPCG(seed, 3))
	roll := func(n int) int { mu.Lock(); defer mu.Unlock(); return chance.IntN(n) }
	l.delay = func() {
		if roll(20) == 0 {
			time.Sleep(10 * time.Millisecond)
		} else {
			time.Sleep(time.Duration(roll(1500)) * time.Microsecond)
		}
	}
	l.fault = func() error {
		if !l.faulty.Load() {
			return nil
		}
		switch roll(30) {
		case 0:
			return persist.ErrUnavailable
		case 1, 2:
			return persist.ErrUnknown
		}
		return nil
	}
	l.late = func() fate { return fate(roll(3)) }
}

var _ persist.Log = (*sharedLog)(nil)
