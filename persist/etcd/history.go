package etcd

import (
	"context"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// Servers that were restored from a backup while logs follow them have another history: what was delivered may never have happened there.
// A log that finds that out fails, since it can neither go on nor take back what it has handed out.

// checkHistory compares the answer to a question that was confirmed by most servers with what had been delivered before it was asked.
func (l *Log) checkHistory(before int64, answer *pb.ResponseHeader) error {
	switch {
	case answer.Revision < before:
		return l.fail(fmt.Errorf("etcd: the servers have gone back from revision %d to %d, as after a restore from a backup: this process must begin anew", before, answer.Revision))
	case answer.ClusterId != l.identity.Cluster:
		return l.fail(fmt.Errorf("etcd: the servers were cluster %x and are cluster %x now: this process must begin anew", l.identity.Cluster, answer.ClusterId))
	}
	if err := l.revisions.check(answer.Revision); err != nil {
		return l.fail(err)
	}
	return nil
}

// A moment is what the servers say at one time.
type moment struct {
	revision int64
	record   int64 // of the log, as it was delivered before they were asked, if it is not there; else 0
}

// ask asks the servers for the newest revision, and whether the log's record is as it was delivered. The error is persist.ErrFailed if they have another
// history than what was delivered.
func (l *Log) ask(ctx context.Context, most time.Duration) (moment, error) {
	if err := l.failure(); err != nil {
		return moment{}, err
	}
	before, _ := l.appliedRevision()
	record := l.recordSeen.Load()
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	found, err := l.client.Get(ctx, l.keys.record(l.writer), clientv3.WithKeysOnly())
	if err != nil {
		return moment{}, err
	}
	if err := l.checkHistory(before, found.Header); err != nil {
		return moment{}, err
	}
	now := moment{revision: found.Header.Revision}
	switch {
	case len(found.Kvs) == 0:
		now.record = record
	case found.Kvs[0].ModRevision < record:
		return moment{}, l.failRecord(record, found.Kvs[0].ModRevision)
	}
	return now, nil
}

// checkRecord says whether a record that is not there was deleted, which is delivered up to that moment. Else it has never been there, as after a
// restore from a backup that has made revisions greater.
func (l *Log) checkRecord(at moment) error {
	if at.record > 0 && l.recordSeen.Load() == at.record {
		return l.failRecord(at.record, 0)
	}
	return nil
}

// checkErased is checkRecord for a log that has found at a revision that its record is not there: it is about to write another one.
func (l *Log) checkErased(ctx context.Context, revision int64) error {
	now := moment{revision, l.recordSeen.Load()}
	if err := l.awaitConfirmed(ctx, revision); err != nil {
		return err
	}
	return l.checkRecord(now)
}

// failRecord ends a log whose record has gone back.
func (l *Log) failRecord(from, to int64) error {
	return l.fail(fmt.Errorf("etcd: the record of this process has gone back from revision %d to %d, as after a restore from a backup: it must begin anew", from, to))
}

// fail ends the log: nothing is written any more, and no read is confirmed. It answers the first cause.
func (l *Log) fail(err error) error {
	err = fmt.Errorf("%w: %w", persist.ErrFailed, err)
	if !l.failed.CompareAndSwap(nil, &err) {
		return *l.failed.Load()
	}
	l.o.Logger.Error("etcd: the log has failed", "error", err)
	if l.o.Fatal != nil {
		l.o.Fatal(err)
	}
	return err
}

// failure is why the log has failed; nil if it has not.
func (l *Log) failure() error {
	if err := l.failed.Load(); err != nil {
		return *err
	}
	return nil
}
