package etcd

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// compaction describes the latest compaction by any log.
type compaction struct {
	at   int64     // mod_revision of the compaction key
	seen time.Time // when this log first observed that revision
	mark int64     // the revision applied at that time; the upper limit of the next compaction
}

// Trim drops the history before keepFrom if a compaction is due and no other log performs it.
func (l *Log) Trim(keepFrom persist.Revision) error {
	if l.o.CompactionInterval < 0 || l.health.error() != nil {
		return nil
	}
	ctx, cancel := bounded(l.ctx, openTimeout)
	defer cancel()
	due, err := l.compactionDue(ctx)
	at := min(l.compaction.mark, l.revisions.etcd(keepFrom)-1)
	if f := l.fingerprint(); f.revision > 0 { // watches begin there
		at = min(at, f.revision-1)
	}
	if err != nil || !due || at <= l.compacted.Load() {
		return err
	}
	if mine, err := l.takeCompaction(ctx, at); err != nil || !mine {
		return err
	}
	if _, err := l.client.Compact(ctx, at); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return l.unavailable(err)
	}
	l.compacted.Store(at)
	return errors.Join(l.dropOld(ctx, at), l.dropClaims(ctx), l.dropMarks(ctx))
}

// compactionDue reports whether this log has observed no compaction for one interval. A newly
// opened log also waits for a whole interval.
func (l *Log) compactionDue(ctx context.Context) (bool, error) {
	found, err := l.client.Get(ctx, l.keys.compaction())
	if err != nil {
		return false, l.unavailable(err)
	}
	at := int64(0)
	if len(found.Kvs) > 0 {
		at = found.Kvs[0].ModRevision
	}
	if at != l.compaction.at || l.compaction.seen.IsZero() {
		applied, _ := l.appliedRevision()
		l.compaction = compaction{at, time.Now(), applied}
	}
	return time.Since(l.compaction.seen) >= l.o.CompactionInterval, nil
}

// takeCompaction returns false if another log has changed the compaction key in the meantime.
func (l *Log) takeCompaction(ctx context.Context, at int64) (bool, error) {
	key := l.keys.compaction()
	unchanged := clientv3.Compare(clientv3.ModRevision(key), "=", l.compaction.at)
	done, err := l.client.Txn(ctx).If(unchanged).Then(clientv3.OpPut(key, strconv.FormatInt(at, 10))).Commit()
	if err != nil {
		return false, l.unavailable(err)
	}
	return done.Succeeded, nil
}

func compactedAt(value []byte) int64 {
	at, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0
	}
	return at
}

// dropOld deletes old records and guards. If it deletes the record of a paused log, that log's next
// transaction fails, and the log catches up before it plans its writes again.
func (l *Log) dropOld(ctx context.Context, before int64) error {
	if err := l.dropUnused(ctx, l.keys.records(), before); err != nil {
		return err
	}
	return l.dropUnused(ctx, l.keys.guards(), before)
}

// dropUnused deletes records or guards older than a compacted revision. It keeps fences.
func (l *Log) dropUnused(ctx context.Context, prefix string, before int64) error {
	end := clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix))
	for from := prefix; ; {
		found, err := l.client.Get(ctx, from, end, clientv3.WithKeysOnly(), clientv3.WithLimit(pageSize))
		if err != nil {
			return l.unavailable(err)
		}
		for _, kv := range found.Kvs {
			if kv.ModRevision >= before || bytes.HasPrefix(kv.Key, []byte(l.keys.guard(persist.FencePrefix))) {
				continue
			}
			if err := l.dropUnchanged(ctx, kv); err != nil {
				return err
			}
		}
		if !found.More {
			return nil
		}
		from = string(found.Kvs[len(found.Kvs)-1].Key) + "\x00"
	}
}

func (l *Log) dropUnchanged(ctx context.Context, kv *mvccpb.KeyValue, also ...clientv3.Cmp) error {
	key := string(kv.Key)
	ifs := append(also, clientv3.Compare(clientv3.ModRevision(key), "=", kv.ModRevision))
	if _, err := l.client.Txn(ctx).If(ifs...).Then(clientv3.OpDelete(key)).Commit(); err != nil {
		return l.unavailable(err)
	}
	return nil
}

// dropMarks deletes the oldest marks of local copies, because they may belong to removed data
// directories.
func (l *Log) dropMarks(ctx context.Context) error {
	found, err := l.client.Get(ctx, l.keys.copies(), clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortDescend))
	if err != nil {
		return l.unavailable(err)
	}
	for _, kv := range found.Kvs[min(len(found.Kvs), mostMarks):] {
		if err := l.dropUnchanged(ctx, kv); err != nil {
			return err
		}
	}
	return nil
}

// dropClaims deletes claims of missing objects. Such claims exist only if another program has
// deleted objects.
func (l *Log) dropClaims(ctx context.Context) error {
	if l.state == nil {
		return nil
	}
	l.mu.Lock()
	all := maps.Clone(l.claims.holders)
	l.mu.Unlock()
	for name, c := range all {
		if l.state.CurrentRevision(c.holder) > 0 {
			continue
		}
		absent := clientv3.Compare(clientv3.CreateRevision(l.keys.object(c.holder)), "=", 0)
		if err := l.dropUnchanged(ctx, &mvccpb.KeyValue{Key: []byte(l.keys.claim(name)), ModRevision: c.at}, absent); err != nil {
			return err
		}
	}
	return nil
}
