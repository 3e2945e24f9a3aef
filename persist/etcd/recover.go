package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"

	"github.com/troupe-api/troupe/persist"
)

const pageSize = 1000

// Recover implements persist.Log. It passes the newest state and all changes that are not compacted
// to r.
func (l *Log) Recover(r persist.Recovery) (persist.Revision, error) {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(l.ctx))
	defer cancel()
	revision, begun, err := l.beginHistory(ctx)
	if err != nil {
		return 0, err
	}
	if err := l.readClaims(ctx, revision, &l.claims); err != nil {
		return 0, err
	}
	if l.guards, err = l.readGuards(ctx, revision); err != nil {
		return 0, err
	}
	if r.Item == nil {
		r.Item = func(persist.Item) error { return nil }
	}
	base := revision
	if copied := l.loadCopy(ctx, revision); copied != nil {
		base, err = l.readCopied(ctx, revision, copied, r.Item)
	} else {
		err = l.readItems(ctx, "", revision, r.Item)
	}
	if err != nil {
		return 0, err
	}
	if r.Base != nil {
		if err := r.Base(l.revisions.upTo(base)); err != nil {
			return 0, err
		}
	}
	if r.Commit != nil {
		if revision, err = l.readHistory(ctx, base, revision, r); err != nil {
			return 0, err
		}
	}
	last := l.revisions.upTo(revision)
	l.state, l.unverified = r.State, true
	if revision == begun.revision { // otherwise the follower reloads the state
		l.setFingerprint(begun)
	}
	l.advance(revision, last)
	return last, nil
}

func (l *Log) currentRevision(ctx context.Context) (int64, error) {
	now, err := l.ask(ctx, l.o.WriteTimeout)
	if err != nil {
		return 0, l.unavailable(err)
	}
	return now.revision, nil
}

// readPages reads the keys with a prefix at a revision, in ascending order, and calls take for each
// page of keys.
func (l *Log) readPages(ctx context.Context, prefix string, revision int64, how []clientv3.OpOption, take func([]*mvccpb.KeyValue) error) error {
	from := prefix
	if k := l.keys; prefix == k.objects() || prefix == k.claims() || prefix == k.guards() {
		from += "\x00" // keys without a name are ignored, as by the follower
	}
	how = append(how, clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithRev(revision), clientv3.WithLimit(pageSize))
	for {
		page, cancel := context.WithTimeout(ctx, openTimeout)
		found, err := l.client.Get(page, from, how...)
		cancel()
		if err != nil {
			return l.readError(revision, err)
		}
		l.countRead(found.Kvs)
		if err := take(found.Kvs); err != nil {
			return err
		}
		if !found.More || len(found.Kvs) == 0 {
			return nil
		}
		from = string(found.Kvs[len(found.Kvs)-1].Key) + "\x00"
	}
}

func (l *Log) readEach(ctx context.Context, prefix string, revision int64, take func(*mvccpb.KeyValue) error) error {
	return l.readPages(ctx, prefix, revision, nil, func(page []*mvccpb.KeyValue) error {
		for _, kv := range page {
			if err := take(kv); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *Log) readError(revision int64, err error) error {
	if errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("etcd: the state at revision %d was compacted while it was read: %w", revision, err)
	}
	return l.unavailable(err)
}

func (l *Log) countRead(kvs []*mvccpb.KeyValue) {
	for _, kv := range kvs {
		l.stats.keysRead.Add(1)
		l.stats.bytesRead.Add(uint64(len(kv.Key) + len(kv.Value)))
	}
}

func (l *Log) readItems(ctx context.Context, prefix string, revision int64, take func(persist.Item) error) error {
	return l.readEach(ctx, l.keys.object(prefix), revision, func(kv *mvccpb.KeyValue) error {
		i := l.itemOf(kv)
		if errors.Is(i.Err, errClosed) {
			return i.Err
		}
		return take(i)
	})
}

// itemOf decodes a key's item. If the log is closed during the call, the item's Err is errClosed.
func (l *Log) itemOf(kv *mvccpb.KeyValue) persist.Item {
	position, offset, rest, err := splitHead(kv.Value)
	i := persist.Item{Key: trimKey(kv.Key, l.keys.objects()), Value: rest, Revision: l.revisions.of(kv.ModRevision, position), Err: err}
	if err == nil {
		i.Value, i.Err = l.decode(persist.Place{Key: i.Key, Revision: i.Revision, Unversioned: true}, rest)
	}
	if i.Err == nil {
		i.Value, i.Err = valueAt(i.Value, offset, i.Revision)
	}
	return i
}

func (l *Log) readClaims(ctx context.Context, revision int64, into *claims) error {
	return l.readEach(ctx, l.keys.claims(), revision, func(kv *mvccpb.KeyValue) error {
		into.set(trimKey(kv.Key, l.keys.claims()), string(kv.Value), kv.ModRevision)
		return nil
	})
}

// readHistory passes the uncompacted changes up to upTo to r, and returns the revision of the
// recovered state including these changes. If a compaction happens during the call, the history
// restarts after the compacted revision. If changes after base were compacted, the returned
// revision is below upTo, and the follower reloads the state.
func (l *Log) readHistory(ctx context.Context, base, upTo int64, r persist.Recovery) (reached int64, err error) {
	if r.HistoryAfter == nil {
		r.HistoryAfter = func(persist.Revision) {}
	}
	for from := int64(1); ; {
		begun, last := false, from-1
		compacted, err := l.readChanges(ctx, from, upTo, func(revision int64, commits []persist.Commit) error {
			if !begun {
				r.HistoryAfter(l.revisions.upTo(from - 1))
			}
			begun, last = true, revision
			for _, c := range commits {
				if err := r.Commit(c); err != nil {
					return err
				}
			}
			return nil
		})
		switch {
		case !errors.Is(err, rpctypes.ErrCompacted):
			return upTo, err
		case base < upTo && begun && last >= base:
			return last, nil
		case base < upTo && compacted > base:
			r.HistoryAfter(l.revisions.upTo(base))
			return base, nil
		case compacted >= upTo:
			r.HistoryAfter(l.revisions.upTo(upTo))
			return upTo, nil
		}
		from = compacted + 1
	}
}

// readChanges calls take with the changes of each revision in a range. It always calls take for the
// last revision, even if there are no changes. If the first changes were compacted, it returns
// ErrCompacted and the revision of the compaction.
func (l *Log) readChanges(ctx context.Context, from, upTo int64, take func(revision int64, commits []persist.Commit) error) (compacted int64, err error) {
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, "troupe-watch", "history")) // separate stream
	defer cancel()
	responses := l.client.Watch(ctx, l.keys.all(), clientv3.WithPrefix(), clientv3.WithRev(from), clientv3.WithProgressNotify(), clientv3.WithFragment())
	last := from - 1
	take = takeOnce(&last, take)
	for {
		// If no event has revision upTo, only a progress notification shows that it was reached.
		if err := l.client.RequestProgress(ctx); err != nil {
			return 0, l.unavailable(err)
		}
		select {
		case response, open := <-responses:
			if !open {
				return 0, l.unavailable(errors.New("the servers closed the watch of the history"))
			}
			if done, compacted, err := l.takeChanges(response, upTo, take); done || err != nil {
				return compacted, err
			}
		case <-time.After(progressPeriod):
		}
	}
}

// takeOnce returns a function that calls take, but skips revisions that were already delivered, as
// deliver does.
func takeOnce(last *int64, take func(int64, []persist.Commit) error) func(int64, []persist.Commit) error {
	return func(revision int64, commits []persist.Commit) error {
		if revision < *last || revision == *last && commits != nil {
			return nil
		}
		*last = revision
		return take(revision, commits)
	}
}

// takeChanges calls take with the changes of one watch response. done means that upTo was reached.
// If the error is ErrCompacted, compacted is the compaction's revision.
func (l *Log) takeChanges(response clientv3.WatchResponse, upTo int64, take func(int64, []persist.Commit) error) (done bool, compacted int64, err error) {
	switch err := response.Err(); {
	case err != nil && response.CompactRevision > 0:
		return false, response.CompactRevision, rpctypes.ErrCompacted
	case err != nil:
		return false, 0, l.unavailable(err)
	}
	for revision, events := range byRevision(response.Events) {
		if revision > upTo {
			break
		}
		d := l.read(revision, events)
		if err := take(revision, l.commits(d, nil, d.time(l.o.Now()))); err != nil {
			return false, 0, err
		}
	}
	if response.Header.Revision < upTo || len(response.Events) > 0 && response.Events[len(response.Events)-1].Kv.ModRevision < upTo {
		return false, 0, nil
	}
	if len(response.Events) == 0 && !response.IsProgressNotify() {
		return false, 0, nil
	}
	return true, 0, take(upTo, nil)
}
