package etcd

import (
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

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
	return nil
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
