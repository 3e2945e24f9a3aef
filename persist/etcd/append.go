package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/troupe-api/troupe/persist"
)

// MaxBatch is the maximum number of writes in one transaction. Larger batches have no benefit.
const MaxBatch = maxWrites

// Append implements persist.Log. It commits a batch in one transaction if possible. It needs
// several if the batch is too large, writes a key twice, or contains dependent writes.
func (l *Log) Append(batch []persist.Write) ([]persist.Result, error) {
	l.appending.Lock()
	defer l.appending.Unlock()
	if l.subscriber == nil {
		return nil, errNotRecovered
	}
	pending, err := unitsOf(batch)
	if err != nil {
		return nil, err
	}
	if err := l.ready(); err != nil {
		return nil, err
	}
	l.stats.batches.Add(1)
	p := &planner{log: l, batch: batch, results: make([]persist.Result, len(batch)), done: make([]bool, len(batch))}
	until := time.Now().Add(l.o.WriteTimeout) // per round, including retries
	for first := true; ; {
		r, later := p.next(pending)
		if r == nil {
			return p.results, nil
		}
		pending = later
		err := l.commit(r, until)
		if errors.Is(err, errNotCommitted) && time.Now().Before(until) {
			pending = append(r.units, pending...)
			continue
		}
		if err != nil {
			if rest, split := l.shrink(r, err); split {
				pending = append(rest, pending...)
				continue
			}
			switch tooLarge, unknown := errors.Is(err, persist.ErrTooLarge), errors.Is(err, persist.ErrUnknown); {
			case tooLarge || unknown:
				p.answer(r.units, err)
			case first:
				return nil, err // nothing was committed
			default:
				p.answer(r.units, persist.ErrCondition)
			}
			if !errors.Is(err, persist.ErrTooLarge) {
				p.answer(pending, persist.ErrCondition) // the caller recomputes them
				return p.results, nil
			}
			continue
		}
		first, until = false, time.Now().Add(l.o.WriteTimeout)
		p.settle(r)
	}
}

// ready returns persist.ErrUnavailable while the servers are unreachable or the outcome of the last
// transaction is unknown.
func (l *Log) ready() error {
	if err := l.failure(); err != nil {
		return err
	}
	if err := l.health.error(); err != nil {
		return l.unavailable(err)
	}
	if !l.undecided {
		return nil
	}
	ctx, cancel := bounded(l.ctx, l.o.WriteTimeout)
	defer cancel()
	if err := l.decide(ctx); err != nil {
		return l.unavailable(err)
	}
	return nil
}

// errNotCommitted means that a round (one transaction) was not committed. The caller must plan the
// round again before a retry, because its comparisons may be outdated.
var errNotCommitted = fmt.Errorf("%w: the transaction got no response and was not committed", persist.ErrUnavailable)

var errOtherRecord = errors.New("the record of this process is not the one that it wrote last")

// commit sends a round (one transaction) and blocks until its outcome is known. A nil error means
// that the round was committed and delivered, or is lost (see round). persist.ErrUnknown means that
// the outcome is unknown. Any other error means that the round was not committed.
func (l *Log) commit(r *round, until time.Time) error {
	begin := time.Now()
	defer l.stats.seconds.since(begin)
	ctx, cancel := context.WithDeadline(clientv3.WithRequireLeader(l.ctx), until)
	defer cancel()
	l.send(r)
	attempt, cancel := context.WithTimeout(ctx, l.o.WriteTimeout/2) // leaves time for resolve
	done, err := l.transact(attempt, r)
	cancel()
	switch {
	case err == nil && done.Succeeded:
		l.recordAt = done.Header.Revision
		return l.awaitDelivery(ctx, r)
	case err == nil:
		return l.catchUp(ctx, r, done)
	case errors.Is(err, persist.ErrFailed):
		l.withdraw(r)
		if done.Succeeded {
			err = fmt.Errorf("%w: %w", persist.ErrUnknown, err)
		}
		return err
	case refusal(err) != nil:
		l.withdraw(r)
		return refusal(err)
	}
	return l.resolve(ctx, r, err)
}

// catchUp handles a round whose transaction failed because this log's record has changed. Its
// errors have the same meaning as those of commit.
func (l *Log) catchUp(ctx context.Context, r *round, done *clientv3.TxnResponse) error {
	if err := l.takeRecord(ctx, done); errors.Is(err, persist.ErrFailed) {
		l.withdraw(r)
		return err
	} else if err != nil {
		l.withdraw(r)
		return l.unavailable(err)
	}
	if l.recordAt > 0 {
		return l.resolve(ctx, r, errOtherRecord)
	}
	// Trim has deleted the record. The log has committed nothing since, so write a new record and
	// let the caller retry the round.
	l.withdraw(r)
	l.undecided = true
	if err := l.decide(ctx); err != nil {
		return l.unavailable(err)
	}
	return errNotCommitted
}

func (l *Log) send(r *round) {
	l.delivering.Lock()
	defer l.delivering.Unlock()
	l.number++
	r.number, r.record.number, r.record.time = l.number, l.number, l.o.Now()
	l.inFlight = r
}

// withdraw abandons a round, so that later commits are not attributed to it. It returns false if
// the round's commits were already delivered.
func (l *Log) withdraw(r *round) bool {
	l.delivering.Lock()
	defer l.delivering.Unlock()
	l.inFlight = nil
	return !r.isDecided()
}

func (r *round) isDecided() bool {
	select {
	case <-r.decided:
		return true
	default:
		return false
	}
}

func (l *Log) transact(ctx context.Context, r *round) (*clientv3.TxnResponse, error) {
	l.stats.rounds.Add(1)
	before, _ := l.appliedRevision()
	key := l.keys.record(l.writer)
	unchanged := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", l.recordAt)}
	if f := l.fingerprint(); f.revision > 0 && f.writer != l.writer {
		unchanged = append(unchanged, clientv3.Compare(clientv3.ModRevision(l.keys.record(f.writer)), ">", f.revision-1))
	}
	ops := append([]clientv3.Op{clientv3.OpPut(key, string(r.record.encode()))}, r.ops...)
	done, err := l.client.Txn(ctx).If(unchanged...).Then(ops...).Else(clientv3.OpGet(key, clientv3.WithKeysOnly())).Commit()
	if err == nil {
		err = l.checkHistory(before, done.Header)
	}
	return done, err
}

// takeRecord determines why a transaction's comparisons failed. Either an earlier transaction of
// this log received no response, Trim deleted the record, or the servers have a different history.
func (l *Log) takeRecord(ctx context.Context, done *clientv3.TxnResponse) error {
	at := int64(0)
	for _, kv := range done.Responses[0].GetResponseRange().Kvs {
		at = kv.ModRevision
	}
	if 0 < at && at < l.recordAt {
		return l.failRecord(l.recordAt, at)
	}
	if at == 0 || at == l.recordAt {
		if err := l.confirmHistory(ctx); err != nil {
			return err
		}
	}
	l.recordAt = at
	return nil
}

func (l *Log) awaitDelivery(ctx context.Context, r *round) error {
	select {
	case <-r.decided:
		return nil
	case <-ctx.Done():
	}
	if !l.withdraw(r) {
		return nil
	}
	l.undecided = true
	l.stats.undecided.Add(1)
	return fmt.Errorf("%w: the watch did not deliver it in time", persist.ErrUnknown)
}

// resolve determines the outcome of a round that got no response or found a changed record. Once
// decide has succeeded, a round that the follower has not delivered can never be committed.
func (l *Log) resolve(ctx context.Context, r *round, cause error) error {
	l.undecided = true
	err := l.decide(ctx)
	switch {
	case !l.withdraw(r):
		return nil
	case err == nil:
		return errNotCommitted
	}
	l.stats.undecided.Add(1)
	return fmt.Errorf("%w: %w", persist.ErrUnknown, cause)
}

// decide retries writing the record until it succeeds, and then waits until the follower has seen
// it. Earlier transactions that the follower has not seen by then can never be committed, because
// they compare an older revision of the record.
func (l *Log) decide(ctx context.Context) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, l.o.HealthCheckTimeout)
		fence := &round{record: record{time: l.o.Now()}}
		l.number++
		fence.record.number = l.number
		done, err := l.transact(attempt, fence)
		cancel()
		switch {
		case err == nil && done.Succeeded:
			l.recordAt = done.Header.Revision
			if err := l.awaitApplied(ctx, l.recordAt); err != nil {
				return err
			}
			l.undecided = false
			return nil
		case err == nil:
			if err := errors.Join(l.takeRecord(ctx, done), ctx.Err()); err != nil {
				return err
			}
		case ctx.Err() != nil || errors.Is(err, persist.ErrFailed):
			return err
		default:
			if wait(ctx, retryDelay) != nil {
				return err
			}
		}
	}
}

const retryDelay = 100 * time.Millisecond

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refusal returns the error of a transaction that the servers rejected without committing it. It
// returns nil if the transaction may have been committed.
func refusal(err error) error {
	var refused rpctypes.EtcdError
	known := errors.As(err, &refused)
	switch {
	case errors.Is(err, rpctypes.ErrTooManyOps), errors.Is(err, rpctypes.ErrRequestTooLarge),
		!known && status.Code(err) == codes.ResourceExhausted: // from the transport
		return fmt.Errorf("%w: %w", persist.ErrTooLarge, err)
	case errors.Is(err, rpctypes.ErrNoSpace):
		return fmt.Errorf("%w: %w", persist.ErrNoSpace, err)
	case !known:
		return nil
	case errors.Is(err, rpctypes.ErrNoLeader), refused.Code() == codes.PermissionDenied, refused.Code() == codes.Unauthenticated,
		refused.Code() == codes.ResourceExhausted, refused.Code() == codes.InvalidArgument, refused.Code() == codes.FailedPrecondition:
		return fmt.Errorf("%w: %w", persist.ErrUnavailable, err)
	}
	return nil
}

// shrink lowers the batch limit that a round has exceeded. If the round contains several units,
// split is true and the caller must send the units in smaller rounds.
func (l *Log) shrink(r *round, err error) (units []unit, split bool) {
	tooMany := errors.Is(err, rpctypes.ErrTooManyOps)
	if !errors.Is(err, persist.ErrTooLarge) || len(r.units) == 1 {
		return nil, false
	}
	if tooMany {
		l.maxOps = max(minOps, min(l.maxOps, 1+len(r.ops)+r.largest)/2)
	} else {
		l.maxBytes = r.bytes / 2
	}
	return r.units, true
}

func (p *planner) settle(r *round) {
	l := p.log
	for position, i := range r.writes {
		result := &p.results[i]
		p.done[i] = true
		switch {
		case r.lost:
			*result = persist.Result{Err: persist.ErrUnknown}
		case r.committed[position]:
			result.Revision = l.revisions.of(r.revision, byte(position))
			l.stats.commits.Add(1)
		default:
			*result = persist.Result{Revision: r.upTo, Err: persist.ErrCondition}
			l.stats.refused.Add(1)
		}
	}
	for _, u := range r.units {
		if _, err := l.overtaken(guardsOf(p.batch, u)); err != nil && errors.Is(p.results[u[0]].Err, persist.ErrCondition) {
			p.refuse(u, persist.Result{Revision: r.upTo, Err: err})
		}
	}
}

func (p *planner) answer(units []unit, err error) {
	for _, u := range units {
		p.refuse(u, persist.Result{Err: err})
	}
}
