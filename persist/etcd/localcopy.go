package etcd

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// A copy of the state on the local disk spares the next start most of what it would have to ask the servers for: it asks for the keys with
// their revisions only, and for the values of those that the copy does not have. A value that has the same key and the same revision is the
// same, in one history. That the history of the servers is the one that the copy was made in is told by a mark: a random text that is
// written to the servers after the state was complete. Where the servers hold the mark, everything before it happened there.

// localCopy is what a log knows of its copy.
type localCopy struct {
	files persist.LocalCopy // without a directory there is none
	name  string            // of the key with the marks
	mark  string            // the newest, which the copy on the disk may have
	bytes atomic.Int64      // of the newest copy
	since atomic.Int64      // bytes that have changed after it
}

// An origin is where a copy comes from.
type origin struct {
	Cluster uint64 `json:"cluster"` // the identity that the servers have
	Prefix  string `json:"prefix"`
	Format  string `json:"format"`  // what the key /format holds,
	Created int64  `json:"created"` // and the revision that made it
	Name    string `json:"name"`    // of the key with the marks
	Mark    string `json:"mark"`
}

// mostMarks is how many copies can be trusted at a time. Who compacts drops the oldest marks beyond that.
const mostMarks = 256

// Snapshot implements persist.Log: it writes the copy. What is encrypted is left out, and what cannot be read.
func (l *Log) Snapshot(at, _ persist.Revision, items func(yield func(persist.Item) bool)) error {
	c := &l.copy
	if c.files.Dir == "" {
		return nil
	}
	begun, size := c.since.Load(), int64(0)
	err := c.files.Write(at, func(yield func(persist.Item) bool) {
		items(func(i persist.Item) bool {
			if i.Err != nil || l.o.Transformer != nil && l.o.Transformer.Transforms(i.Key) {
				return true
			}
			size += int64(len(i.Key) + len(i.Value))
			return yield(i)
		})
	}, func() ([]byte, error) { return l.markCopy(at) })
	if err != nil {
		return err
	}
	c.bytes.Store(size)
	c.since.Add(-begun)
	return nil
}

// markCopy writes a mark for the state at a revision. The one before stays beside it, for the copy before counts until the new one is in place.
func (l *Log) markCopy(at persist.Revision) ([]byte, error) {
	ctx, cancel := bounded(l.ctx, l.o.WriteTimeout)
	defer cancel()
	if l.copy.name == "" {
		l.copy.name = rand.Text()
	}
	o := l.identity
	o.Name, o.Mark = l.copy.name, rand.Text()
	same := clientv3.Compare(clientv3.CreateRevision(l.keys.format()), "=", o.Created)
	put := clientv3.OpPut(l.keys.copyMarks(o.Name), strings.TrimSpace(l.copy.mark+" "+o.Mark))
	done, err := l.client.Txn(ctx).If(same).Then(put).Commit()
	switch {
	case err != nil:
		return nil, l.unavailable(err)
	case !done.Succeeded:
		return nil, errOtherHistory
	}
	if err := l.checkHistory(l.revisions.etcd(at), done.Header); err != nil {
		return nil, err
	}
	l.copy.mark = o.Mark
	return json.Marshal(o)
}

var errOtherHistory = errors.New("etcd: the servers do not hold the history that this state comes from")

// changed is how many bytes have changed after the copy. It counts as more than any bound if that is as much as the copy holds, so that the copy of a
// store that grows is renewed each time it has doubled.
func (c *localCopy) changed() int64 {
	const least = 1 << 20
	if since := c.since.Load(); since < max(least, c.bytes.Load()) {
		return since
	}
	return unbounded
}

// wantsCopy says whether a copy is worth its cost when the log is closed: an old one serves nearly as well as a new one if little has changed.
func (l *Log) wantsCopy() bool {
	const part = 8
	since := l.copy.since.Load()
	return l.copy.files.Dir != "" && since > 0 && since >= l.copy.bytes.Load()/part && l.Healthy() == nil
}

// countChanges notes what has changed after the copy.
func (l *Log) countChanges(commits []persist.Commit) {
	if l.copy.files.Dir == "" {
		return
	}
	for i := range commits {
		l.copy.since.Add(int64(len(commits[i].Key) + len(commits[i].Value)))
	}
}

// unbounded is more than may change before a copy is due.
const unbounded = 1 << 50

// loadCopy answers the copy, if it can be trusted, and else nil. It is asked for once.
func (l *Log) loadCopy(ctx context.Context, revision int64) *persist.CopiedState {
	c := &l.copy
	if c.files.Dir == "" {
		return nil
	}
	c.since.Store(unbounded) // so that one is made soon if there is none
	s, err := c.files.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = l.checkCopy(ctx, s, revision)
	}
	if err != nil {
		l.o.Logger.Warn("etcd: the local copy of the state is not used; all of it is read from the servers", "directory", c.files.Dir, "reason", err)
		return nil
	}
	if t := l.o.Transformer; t != nil { // the configuration may have changed
		s.Items = slices.DeleteFunc(s.Items, func(i persist.Item) bool { return t.Transforms(i.Key) })
	}
	c.since.Store(0)
	for _, i := range s.Items {
		c.bytes.Add(int64(len(i.Key) + len(i.Value)))
	}
	return s
}

// checkCopy says why a copy cannot be trusted.
func (l *Log) checkCopy(ctx context.Context, s *persist.CopiedState, revision int64) error {
	var o origin
	if err := json.Unmarshal(s.Origin, &o); err != nil {
		return err
	}
	l.copy.name, l.copy.mark = o.Name, "" // the key is used again in any case
	want := l.identity
	want.Name, want.Mark = o.Name, o.Mark
	switch at := l.revisions.etcd(s.Revision); {
	case o != want:
		return fmt.Errorf("it is of another etcd, of another prefix or of a store before this one: %+v, and this is %+v", o, want)
	case at > revision:
		return fmt.Errorf("it has revision %d and the servers are at %d only: they were restored from an older backup", at, revision)
	}
	ctx, cancel := bounded(ctx, openTimeout)
	defer cancel()
	found, err := l.client.Get(ctx, l.keys.copyMarks(o.Name))
	switch {
	case err != nil:
		return l.unavailable(err)
	case len(found.Kvs) == 0 || !slices.Contains(strings.Fields(string(found.Kvs[0].Value)), o.Mark):
		return errOtherHistory
	}
	l.copy.mark = o.Mark
	return nil
}

// readChanged hands out the state at a revision: what has not changed from the copy, and the rest from the servers.
func (l *Log) readChanged(ctx context.Context, revision int64, copied []persist.Item, take func(persist.Item) error) error {
	return l.readPages(ctx, l.keys.objects(), revision, []clientv3.OpOption{clientv3.WithKeysOnly()}, func(page []*mvccpb.KeyValue) error {
		items := make([]persist.Item, len(page))
		var missing []int
		for n, kv := range page {
			key := trimKey(kv.Key, l.keys.objects())
			for len(copied) > 0 && copied[0].Key < key {
				copied = copied[1:] // it was deleted
			}
			if len(copied) > 0 && copied[0].Key == key && l.revisions.etcd(copied[0].Revision) == kv.ModRevision {
				items[n] = copied[0]
			} else {
				missing = append(missing, n)
			}
		}
		if err := l.readMissing(ctx, revision, page, items, missing); err != nil {
			return err
		}
		for _, i := range items {
			if err := take(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// readMissing reads some keys of a page, all of which are there at that revision: with all that lies between them if they are many, and else a
// few at a time.
func (l *Log) readMissing(ctx context.Context, revision int64, page []*mvccpb.KeyValue, items []persist.Item, missing []int) error {
	const many = 4 // one of so many
	if len(missing) > len(page)/many {
		between := page[missing[0] : missing[len(missing)-1]+1]
		first, end := string(between[0].Key), string(between[len(between)-1].Key)+"\x00"
		return l.readThese(ctx, revision, page, items, missing, clientv3.OpGet(first, clientv3.WithRange(end), clientv3.WithRev(revision)))
	}
	for some := range slices.Chunk(missing, minOps) {
		ops := make([]clientv3.Op, len(some))
		for i, n := range some {
			ops[i] = clientv3.OpGet(string(page[n].Key), clientv3.WithRev(revision))
		}
		if err := l.readThese(ctx, revision, page, items, some, ops...); err != nil {
			return err
		}
	}
	return nil
}

// readThese sets some items of a page to what operations read, in the order of the page.
func (l *Log) readThese(ctx context.Context, revision int64, page []*mvccpb.KeyValue, items []persist.Item, these []int, ops ...clientv3.Op) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	found, err := l.client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return l.readError(revision, err)
	}
	for _, response := range found.Responses {
		kvs := response.GetResponseRange().Kvs
		l.countRead(kvs)
		for _, kv := range kvs {
			if len(these) == 0 || !bytes.Equal(kv.Key, page[these[0]].Key) {
				continue // the copy has it
			}
			n := these[0]
			these = these[1:]
			if items[n] = l.itemOf(kv); errors.Is(items[n].Err, errClosed) {
				return items[n].Err
			}
		}
	}
	if len(these) > 0 {
		return fmt.Errorf("etcd: %s is not there at revision %d, where it was listed", page[these[0]].Key, revision)
	}
	return nil
}
