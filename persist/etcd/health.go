package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// health is whether the servers answer. While they do not, nothing is sent to them but the question whether they do.
type health struct {
	failed atomic.Pointer[error]
	behind atomic.Pointer[time.Time] // since when the follower lacks something; nil if it does not
}

func (h *health) error() error {
	if err := h.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// healthPeriod is between two questions.
const healthPeriod = time.Second

// maxBehind is how long the follower may lack what the servers have before the log counts as unhealthy.
const maxBehind = 10 * time.Second

// Healthy answers why the store cannot be reached; nil if it can. It does not wait.
func (l *Log) Healthy() error {
	if err := l.failure(); err != nil {
		return err
	}
	if err := l.health.error(); err != nil {
		return fmt.Errorf("etcd does not answer: %w", err)
	}
	if since := l.health.behind.Load(); since != nil && time.Since(*since) > maxBehind {
		return errors.New("etcd: the watch is behind")
	}
	return nil
}

// watchHealth asks the servers until the log is closed, and looks whether the follower keeps up.
func (l *Log) watchHealth() {
	for wait(l.ctx, healthPeriod) == nil {
		now, err := l.ask(clientv3.WithRequireLeader(l.ctx), l.o.HealthCheckTimeout)
		if l.ctx.Err() != nil || l.failure() != nil {
			return
		}
		was := l.health.error()
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				err = fmt.Errorf("there is no answer within %v", l.o.HealthCheckTimeout)
			}
			l.health.failed.Store(&err)
		} else {
			l.health.failed.Store(nil)
			l.noteBehind(now.revision)
		}
		switch {
		case was == nil && err != nil:
			_, why := l.o.reach(l.ctx)
			l.o.Logger.Error("etcd does not answer: nothing can be written", "error", errors.Join(err, why))
		case was != nil && err == nil:
			l.o.Logger.Info("etcd answers again")
		}
	}
}

// noteBehind notes since when the follower lacks something. It asks for progress, which moves it on where nothing happens.
func (l *Log) noteBehind(revision int64) {
	switch applied, _ := l.appliedRevision(); {
	case applied >= revision:
		l.health.behind.Store(nil)
	case l.health.behind.Load() == nil:
		now := time.Now()
		l.health.behind.Store(&now)
	}
	l.requestProgress()
}

// WriteMetrics writes what the log counts, as text for Prometheus.
func (l *Log) WriteMetrics(w io.Writer) {
	up := 1
	if l.Healthy() != nil {
		up = 0
	}
	applied, _ := l.appliedRevision()
	for _, m := range []struct {
		name, kind, help string
		value            any
	}{
		{"troupe_etcd_up", "gauge", "Whether etcd answers and its watch keeps up.", up},
		{"troupe_etcd_applied_revision", "gauge", "Revision of etcd up to which everything is served.", applied},
		{"troupe_etcd_compacted_revision", "gauge", "Revision of etcd up to which this daemon has compacted.", l.compacted.Load()},
		{"troupe_etcd_transactions_total", "counter", "Transactions sent.", l.stats.rounds.Load()},
		{"troupe_etcd_transaction_seconds_total", "counter", "Time from sending transactions until the watch has shown them.", l.stats.seconds.seconds()},
		{"troupe_etcd_writes_committed_total", "counter", "Writes that were committed.", l.stats.commits.Load()},
		{"troupe_etcd_writes_refused_total", "counter", "Writes that another one was faster than.", l.stats.refused.Load()},
		{"troupe_etcd_transactions_undecided_total", "counter", "Transactions whose writers were told that it is not known whether they were committed.", l.stats.undecided.Load()},
		{"troupe_etcd_confirmations_total", "counter", "Questions for the newest revision, which readers share.", l.stats.confirmations.Load()},
		{"troupe_etcd_watch_restarts_total", "counter", "How often the watch was begun again.", l.stats.reopened.Load()},
		{"troupe_etcd_keys_read_total", "counter", "Keys of the state that were read, with or without their values, at the start and where the state was read anew.", l.stats.keysRead.Load()},
		{"troupe_etcd_bytes_read_total", "counter", "Bytes of these keys and values.", l.stats.bytesRead.Load()},
		{"troupe_etcd_rebuilds_total", "counter", "How often the state was read anew because changes had been compacted.", l.stats.rebuilds.Load()},
	} {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %v\n", m.name, m.help, m.name, m.kind, m.name, m.value)
	}
}
