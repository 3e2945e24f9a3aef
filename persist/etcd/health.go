package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/internal/metrics"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// health records whether the servers respond. While they do not, the log sends only health checks.
type health struct {
	failed atomic.Pointer[error]
	behind atomic.Pointer[time.Time] // when the follower began to lag; nil if it does not lag
}

func (h *health) error() error {
	if err := h.failed.Load(); err != nil {
		return *err
	}
	return nil
}

const healthPeriod = time.Second

// maxBehind is the maximum duration of a lag before the log is unhealthy.
const maxBehind = 10 * time.Second

// Healthy returns an error if the store is unreachable or the watch lags. It does not block.
func (l *Log) Healthy() error {
	if err := l.failure(); err != nil {
		return err
	}
	if err := l.health.error(); err != nil {
		return fmt.Errorf("etcd does not respond: %w", err)
	}
	if since := l.health.behind.Load(); since != nil && time.Since(*since) > maxBehind {
		return errors.New("etcd: the watch lags behind")
	}
	return nil
}

// watchHealth checks every healthPeriod whether the servers respond and the follower keeps up. It
// returns when the log is closed.
func (l *Log) watchHealth() {
	for wait(l.ctx, healthPeriod) == nil {
		now, err := l.ask(clientv3.WithRequireLeader(l.ctx), l.o.HealthCheckTimeout)
		if l.ctx.Err() != nil || l.failure() != nil {
			return
		}
		was := l.health.error()
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				err = fmt.Errorf("no response within %v", l.o.HealthCheckTimeout)
			}
			l.health.failed.Store(&err)
		} else {
			l.health.failed.Store(nil)
			l.noteBehind(now.revision)
		}
		switch {
		case was == nil && err != nil:
			_, why := l.o.reach(l.ctx)
			l.o.Logger.Error("etcd does not respond: writes fail", "error", errors.Join(err, why))
		case was != nil && err == nil:
			l.o.Logger.Info("etcd responds again")
		}
	}
}

// noteBehind records when the follower began to lag. It also requests a progress notification,
// which advances the follower if there are no events.
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

// WriteMetrics writes the metrics of the log in the Prometheus text format.
func (l *Log) WriteMetrics(w io.Writer) {
	applied, _ := l.appliedRevision()
	metrics.Write(w,
		metrics.GaugeValue("troupe_etcd_up", "1 if etcd responds and its watch keeps up.", l.Healthy() == nil),
		metrics.GaugeValue("troupe_etcd_applied_revision", "Revision of etcd up to which changes are served.", applied),
		metrics.GaugeValue("troupe_etcd_compacted_revision", "Revision of etcd up to which this server has compacted.", l.compacted.Load()),
		metrics.CounterValue("troupe_etcd_transactions_total", "Transactions sent.", l.stats.rounds.Load()),
		metrics.CounterValue("troupe_etcd_transaction_seconds_total", "Time from sending transactions until their watch event.", l.stats.seconds.seconds()),
		metrics.CounterValue("troupe_etcd_writes_committed_total", "Committed writes.", l.stats.commits.Load()),
		metrics.CounterValue("troupe_etcd_writes_refused_total", "Writes refused because of a concurrent write.", l.stats.refused.Load()),
		metrics.CounterValue("troupe_etcd_transactions_undecided_total", "Transactions whose outcome is unknown.", l.stats.undecided.Load()),
		metrics.CounterValue("troupe_etcd_confirmations_total", "Reads of the newest revision, each shared by concurrent readers.", l.stats.confirmations.Load()),
		metrics.CounterValue("troupe_etcd_watch_restarts_total", "Restarts of the watch.", l.stats.reopened.Load()),
		metrics.CounterValue("troupe_etcd_keys_read_total", "Keys read at the start and to rebuild the state.", l.stats.keysRead.Load()),
		metrics.CounterValue("troupe_etcd_bytes_read_total", "Bytes of keys and values read.", l.stats.bytesRead.Load()),
		metrics.CounterValue("troupe_etcd_rebuilds_total", "Rebuilds of the state after a compaction.", l.stats.rebuilds.Load()),
	)
}
