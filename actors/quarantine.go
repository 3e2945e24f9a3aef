package actors

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// quarantine is the in-memory set of stored objects that cannot be decoded. Recovery and other
// writers' commits add such objects. An object leaves the quarantine when it is deleted or replaced
// by a readable version. Snapshots write quarantined objects unchanged.
type quarantine struct {
	size  atomic.Int64
	mu    sync.RWMutex
	byKey map[string]*Unreadable
}

// An Unreadable is a stored object that cannot be decoded. It is kept but not served.
type Unreadable struct {
	Key     meta.Key // the zero key if the key is invalid too
	Version uint64
	Reason  string
	item    persist.Item
}

func (q *quarantine) put(a *Unreadable) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byKey == nil {
		q.byKey = make(map[string]*Unreadable)
	}
	q.byKey[a.item.Key] = a
	q.size.Store(int64(len(q.byKey)))
}

func (q *quarantine) replace(all []*Unreadable) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.byKey = make(map[string]*Unreadable, len(all))
	for _, a := range all {
		q.byKey[a.item.Key] = a
	}
	q.size.Store(int64(len(q.byKey)))
}

func (q *quarantine) drop(key string) {
	if q.size.Load() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.byKey, key)
	q.size.Store(int64(len(q.byKey)))
}

func (q *quarantine) get(key meta.Key) *Unreadable {
	if q.size.Load() == 0 {
		return nil
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.byKey[key.String()]
}

func (q *quarantine) all() []*Unreadable {
	if q.size.Load() == 0 {
		return nil
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	all := make([]*Unreadable, 0, len(q.byKey))
	for _, a := range q.byKey {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *Unreadable) int { return strings.Compare(a.item.Key, b.item.Key) })
	return all
}

func (q *quarantine) of(storage meta.GroupResource, namespace string) []*Unreadable {
	return slices.DeleteFunc(q.all(), func(a *Unreadable) bool {
		return a.Key.GroupResource != storage || namespace != "" && a.Key.Namespace != namespace
	})
}

// Unreadable returns the stored objects that cannot be decoded, ordered by key.
func (s *Store) Unreadable() []*Unreadable { return s.quarantine.all() }

// String returns the key with each invalid character replaced by a question mark.
func (a *Unreadable) String() string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, a.item.Key), "/")
}

func (s *Store) addToQuarantine(key string, revision persist.Revision, value []byte, reason error) {
	s.quarantine.put(newUnreadable(persist.Item{Key: key, Value: value, Revision: revision}, reason))
}

func newUnreadable(item persist.Item, reason error) *Unreadable {
	parsed, _ := meta.ParseKey(item.Key)
	return &Unreadable{Key: parsed, Version: uint64(item.Revision), Reason: reason.Error(), item: item}
}

func (s *Store) logUnreadable() {
	const limit = 100
	all := s.quarantine.all()
	for _, a := range all[:min(len(all), limit)] {
		s.logger.Error("cannot decode a stored object; it is quarantined until it is deleted",
			"key", a.String(), "version", a.Version, "reason", a.Reason)
	}
	if more := len(all) - limit; more > 0 {
		s.logger.Error("cannot decode more stored objects", "count", more)
	}
}
