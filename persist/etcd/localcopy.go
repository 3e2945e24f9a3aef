package etcd

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// A localCopy is a copy of the state on local disk. On startup, a log with a local copy reads only
// later changes from the servers. If these changes were compacted, the log lists all keys and reads
// only values with other revisions.
//
// A mark, a random string on the servers, proves that they have the copy's history.

type localCopy struct {
	files persist.LocalCopy // copies are disabled if Dir is ""
	name  string            // name of the key with the marks
	mark  string            // newest mark, which the copy on disk may contain
	value string            // value of that key, as known to this log; "" if unknown
	shown string            // last delivered value of that key; guarded by Log.mu
	bytes atomic.Int64      // size of the newest copy
	since atomic.Int64      // bytes changed since the newest copy
}

// An origin identifies the store and the mark of a copy.
type origin struct {
	Cluster uint64 `json:"cluster"` // identity of the servers
	Prefix  string `json:"prefix"`
	Format  string `json:"format"`  // value of the key /format,
	Created int64  `json:"created"` // and its create revision
	Name    string `json:"name"`    // name of the key with the marks
	Mark    string `json:"mark"`
	// Verified reports whether the watch delivered the mark, which proves that state and mark
	// belong to one history. Older versions did not check this.
	Verified bool `json:"verified"`
	apart
}

// apart lists the resources that a copy omits because some of their objects are encrypted in etcd
// or unreadable. On startup, the log reads these resources from the servers.
type apart struct {
	Resources [][]byte `json:"resources,omitempty"` // prefixes of their keys, in ascending order
	Scattered bool     `json:"scattered,omitempty"` // some keys belong to no resource
}

func (a *apart) add(key string) {
	prefix, ok := resourcePrefix(key)
	if !ok {
		a.Scattered = true
		return
	}
	if at, found := slices.BinarySearchFunc(a.Resources, prefix, compareText); !found {
		a.Resources = slices.Insert(a.Resources, at, []byte(prefix))
	}
}

func (a *apart) has(key string) bool {
	prefix, ok := resourcePrefix(key)
	if !ok {
		return false
	}
	_, found := slices.BinarySearchFunc(a.Resources, prefix, compareText)
	return found
}

func compareText(b []byte, text string) int { return strings.Compare(string(b), text) }

func resourcePrefix(key string) (prefix string, ok bool) {
	group, rest, first := strings.Cut(key, "/")
	resource, _, second := strings.Cut(rest, "/")
	return group + "/" + resource + "/", first && second
}

// mostMarks is the maximum number of valid copies. Trim drops the oldest marks beyond this number.
const mostMarks = 256

// Snapshot implements persist.Log. It writes the local copy, if CopyDir is set.
func (l *Log) Snapshot(at, _ persist.Revision, items func(yield func(persist.Item) bool) error) error {
	c := &l.copy
	if c.files.Dir == "" {
		return nil
	}
	begun, size, without := c.since.Load(), int64(0), apart{}
	l.copying.Lock()
	defer l.copying.Unlock()
	err := c.files.Write(at, func(yield func(persist.Item) bool) error {
		return items(func(i persist.Item) bool {
			if i.Err != nil || l.transforms(i.Key) {
				without.add(i.Key)
				return true
			}
			size += int64(len(i.Key) + len(i.Value))
			return l.ctx.Err() == nil && yield(i) // a closed log cannot mark it either
		})
	}, func() ([]byte, error) { return l.markCopy(at, without) })
	if err != nil {
		return err
	}
	c.bytes.Store(size)
	c.since.Add(-begun)
	return nil
}

func (l *Log) transforms(key string) bool {
	return l.o.Transformer != nil && l.o.Transformer.Transforms(key)
}

// markCopy writes a mark for the state at a revision and waits until the follower has delivered it.
// If the previous mark belongs to the same history, the key keeps it, because the old copy stays
// valid until the new copy replaces it.
func (l *Log) markCopy(at persist.Revision, without apart) ([]byte, error) {
	ctx, cancel := bounded(l.ctx, l.o.WriteTimeout)
	defer cancel()
	o := l.identity
	o.Name, o.Mark, o.Verified, o.apart = l.copy.name, rand.Text(), true, without
	key, value, conditions := l.keys.copyMarks(o.Name), o.Mark, []clientv3.Cmp{l.sameStore()}
	if l.copy.value != "" {
		value = l.copy.mark + " " + o.Mark
		conditions = append(conditions, clientv3.Compare(clientv3.Value(key), "=", l.copy.value))
	}
	done, err := l.client.Txn(ctx).If(conditions...).Then(clientv3.OpPut(key, value)).Commit()
	switch {
	case err != nil:
		return nil, l.unavailable(err)
	case !done.Succeeded && l.copy.value != "": // the previous copy is no longer valid
		l.copy.value = ""
		return l.markCopy(at, without)
	case !done.Succeeded:
		return nil, l.failReplaced()
	}
	if err := l.checkHistory(l.revisions.etcd(at), done.Header); err != nil {
		return nil, err
	}
	if err := l.awaitApplied(ctx, done.Header.Revision); err != nil {
		return nil, err
	}
	if l.shownMarks() != value {
		l.copy.value = ""
		return nil, errOtherHistory
	}
	l.copy.mark, l.copy.value = o.Mark, value
	return json.Marshal(o)
}

func (l *Log) applyMarks(d *delivery) {
	for _, e := range d.marks {
		if e.key == l.copy.name {
			l.mu.Lock()
			l.copy.shown = string(e.value)
			l.mu.Unlock()
		}
	}
}

func (l *Log) shownMarks() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.copy.shown
}

var errOtherHistory = errors.New("etcd: the servers do not hold the history that this state comes from")

// changed returns unbounded once the changed bytes reach the copy's size. A growing store is thus
// copied each time it doubles.
func (c *localCopy) changed() int64 {
	const least = 8 << 20
	if since := c.since.Load(); since < max(least, c.bytes.Load()) {
		return since
	}
	return unbounded
}

// unbounded exceeds every threshold at which a copy is due.
const unbounded = 1 << 50

func (l *Log) wantsCopy() bool {
	const part = 8
	since := l.copy.since.Load()
	return l.copy.files.Dir != "" && since > 0 && since >= l.copy.bytes.Load()/part && l.Healthy() == nil
}

func (l *Log) countChanges(commits []persist.Commit) {
	if l.copy.files.Dir == "" {
		return
	}
	for i := range commits {
		l.copy.since.Add(int64(len(commits[i].Key) + len(commits[i].Value)))
	}
}

type copiedState struct {
	at        int64 // etcd revision
	items     []persist.Item
	without   apart
	compacted bool // later changes were compacted
}

// loadCopy returns the local copy, or nil if there is no valid one.
func (l *Log) loadCopy(ctx context.Context, revision int64) *copiedState {
	c := &l.copy
	if c.files.Dir == "" {
		return nil
	}
	c.since.Store(unbounded) // if there is no copy, one is written soon
	loaded, err := c.files.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var s *copiedState
	if err == nil {
		s, err = l.checkCopy(ctx, loaded, revision)
	}
	if err != nil {
		l.o.Logger.Warn("etcd: the local copy of the state is not used; all of it is read from the servers", "directory", c.files.Dir, "reason", err)
		return nil
	}
	c.since.Store(0)
	for _, i := range s.items {
		c.bytes.Add(int64(len(i.Key) + len(i.Value)))
	}
	return s
}

func (l *Log) checkCopy(ctx context.Context, loaded *persist.CopiedState, revision int64) (*copiedState, error) {
	var o origin
	if err := json.Unmarshal(loaded.Origin, &o); err != nil {
		return nil, err
	}
	l.copy.name = o.Name // the key is reused in any case
	s := &copiedState{at: l.revisions.etcd(loaded.Revision), items: loaded.Items, without: o.apart}
	switch i := l.identity; {
	case o.Cluster != i.Cluster || o.Prefix != i.Prefix || o.Format != i.Format || o.Created != i.Created:
		return nil, fmt.Errorf("it belongs to another etcd, prefix or store: %x %s %q created at %d instead of %x %s %q created at %d",
			o.Cluster, o.Prefix, o.Format, o.Created, i.Cluster, i.Prefix, i.Format, i.Created)
	case !o.Verified:
		return nil, errors.New("it was written by an older version, which did not verify that it belongs to the history of the servers")
	case s.at > revision:
		return nil, fmt.Errorf("it has revision %d and the servers are at %d only: they were restored from an older backup", s.at, revision)
	}
	ctx, cancel := bounded(ctx, openTimeout)
	defer cancel()
	found, err := l.client.Get(ctx, l.keys.copyMarks(o.Name))
	switch {
	case err != nil:
		return nil, l.unavailable(err)
	case len(found.Kvs) == 0 || !slices.Contains(strings.Fields(string(found.Kvs[0].Value)), o.Mark):
		return nil, errOtherHistory
	}
	l.copy.mark, l.copy.value = o.Mark, string(found.Kvs[0].Value)
	_, err = l.client.Get(ctx, l.keys.format(), clientv3.WithRev(s.at))
	if s.compacted = errors.Is(err, rpctypes.ErrCompacted); err != nil && !s.compacted {
		return nil, l.unavailable(err)
	}
	l.leaveOut(s)
	return s, nil
}

// leaveOut removes resources that the Transformer may encrypt, because its configuration may have
// changed since the copy was written.
func (l *Log) leaveOut(s *copiedState) {
	for _, i := range s.items {
		if l.transforms(i.Key) {
			s.without.add(i.Key)
		}
	}
	s.items = slices.DeleteFunc(s.items, func(i persist.Item) bool { return s.without.has(i.Key) || l.transforms(i.Key) })
}

// readCopied calls take with each item of the local copy and returns the copy's revision. If etcd
// has compacted the changes since the copy, or the copy omits keys outside of the known resources,
// it instead reads the state at the given revision from etcd and returns that revision.
func (l *Log) readCopied(ctx context.Context, revision int64, s *copiedState, take func(persist.Item) error) (at int64, err error) {
	if s.compacted || s.without.Scattered {
		return revision, l.readChanged(ctx, revision, s.items, take)
	}
	items := s.items
	for _, prefix := range s.without.Resources {
		before := 0
		for before < len(items) && items[before].Key < string(prefix) {
			before++
		}
		if err := takeAll(items[:before], take); err != nil {
			return 0, err
		}
		items = items[before:]
		if err := l.readItems(ctx, string(prefix), s.at, take); err != nil {
			return 0, err
		}
	}
	return s.at, takeAll(items, take)
}

func takeAll(items []persist.Item, take func(persist.Item) error) error {
	for _, i := range items {
		if err := take(i); err != nil {
			return err
		}
	}
	return nil
}
