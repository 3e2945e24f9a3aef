package etcd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// follow delivers the writes of all logs to the subscriber, until this log is closed or fails. If
// the watch ends, follow opens a new one.
func (l *Log) follow() {
	for l.ctx.Err() == nil && l.failure() == nil {
		err := l.watch()
		if errors.Is(err, rpctypes.ErrCompacted) || errors.Is(err, errUnidentified) {
			err = l.rebuild()
		}
		if l.ctx.Err() != nil || l.failure() != nil {
			return
		}
		if err != nil {
			l.stats.reopened.Add(1)
			l.o.Logger.Warn("etcd: the watch ended; restarting it", "error", err)
			_ = wait(l.ctx, retryDelay) // after an error the log is closed, which the loop detects
		}
	}
}

// watch delivers new revisions until the watch ends. It starts at the fingerprint's revision, to
// verify that the servers still have the history that was delivered.
func (l *Log) watch() error {
	applied, _ := l.appliedRevision()
	r := &replay{fingerprint: l.fingerprint(), delivered: applied}
	from := r.fingerprint.revision
	if from == 0 {
		if !l.unverified {
			return errUnidentified
		}
		from = applied + 1
	}
	l.unverified = false
	ctx, cancel := context.WithCancel(l.watches.next(l.ctx))
	defer cancel()
	responses := l.client.Watch(ctx, l.keys.all(), clientv3.WithPrefix(), clientv3.WithRev(from), clientv3.WithProgressNotify(), clientv3.WithFragment())
	for response := range responses {
		if err := response.Err(); err != nil {
			if response.CompactRevision > 0 {
				return rpctypes.ErrCompacted
			}
			return err
		}
		for revision, events := range byRevision(response.Events) {
			d := l.read(revision, events)
			if err := r.check(d); err != nil {
				return l.failHistory(err)
			}
			l.deliver(d)
		}
		if response.IsProgressNotify() {
			if err := r.checkProgress(response.Header.Revision); err != nil {
				return l.failHistory(err)
			}
			l.deliverProgress(response.Header.Revision)
		}
	}
	return errors.New("the servers closed it")
}

// byRevision groups events by revision, in ascending order. The servers send all events of a
// revision together.
func byRevision(events []*clientv3.Event) iter.Seq2[int64, []*clientv3.Event] {
	return func(yield func(int64, []*clientv3.Event) bool) {
		for len(events) > 0 {
			revision, n := events[0].Kv.ModRevision, 1
			for n < len(events) && events[n].Kv.ModRevision == revision {
				n++
			}
			if !yield(revision, events[:n]) {
				return
			}
			events = events[n:]
		}
	}
}

func (l *Log) deliverProgress(revision int64) { l.deliver(&delivery{revision: revision}) }

// A delivery contains the changes of one etcd revision.
type delivery struct {
	revision int64
	writer   string // writer of the record in this revision; "" if there is none
	record   *record
	objects  []event
	claims   []event
	guards   []event
	dropped  int64 // compacted revision, if the compaction key was written; otherwise 0
	marks    []event
	erased   []string // writers whose records were deleted
	// fingerprint is the zero value if no record was written.
	fingerprint fingerprint
}

// An event describes a change to an object, claim, guard or mark.
type event struct {
	key     string // key without the prefix of its kind
	value   []byte
	deletes bool
}

func (l *Log) read(revision int64, events []*clientv3.Event) *delivery {
	d := &delivery{revision: revision}
	for _, e := range events {
		deletes := e.Type == mvccpb.DELETE
		objects, claims, guards, records := l.keys.objects(), l.keys.claims(), l.keys.guards(), l.keys.records()
		switch key := e.Kv.Key; {
		case hasPrefix(key, objects):
			d.objects = append(d.objects, event{trimKey(key, objects), e.Kv.Value, deletes})
		case hasPrefix(key, claims):
			d.claims = append(d.claims, event{trimKey(key, claims), e.Kv.Value, deletes})
		case hasPrefix(key, guards):
			d.guards = append(d.guards, event{trimKey(key, guards), nil, deletes})
		case string(key) == l.keys.compaction() && !deletes:
			d.dropped = compactedAt(e.Kv.Value)
		case hasPrefix(key, l.keys.copies()) && !deletes:
			d.marks = append(d.marks, event{trimKey(key, l.keys.copies()), e.Kv.Value, false})
		case hasPrefix(key, records) && deletes:
			d.erased = append(d.erased, trimKey(key, records))
		case hasPrefix(key, records):
			var err error
			d.fingerprint = newFingerprint(revision, trimKey(key, records), e.Kv.Value)
			if d.record, err = decodeRecord(e.Kv.Value); err != nil {
				l.o.Logger.Error("etcd: the record of a writer cannot be read", "key", string(key), "revision", revision, "error", err)
				continue
			}
			d.writer = trimKey(key, records)
		}
	}
	return d
}

func hasPrefix(key []byte, prefix string) bool {
	return len(key) > len(prefix) && string(key[:len(prefix)]) == prefix
}

// deliver delivers one revision. It skips revisions that were already delivered, because a resumed
// watch may repeat them. If this log wrote the revision, deliver also sets the outcome of the round
// in flight.
func (l *Log) deliver(d *delivery) {
	l.delivering.Lock()
	defer l.delivering.Unlock()
	if applied, _ := l.appliedRevision(); d.revision <= applied {
		return
	}
	if err := l.revisions.check(d.revision); err != nil {
		_ = l.fail(err) // fail logs the error
		return
	}
	r := l.inFlight
	if r == nil || d.writer != l.writer || d.record.number != r.number {
		r = nil
	}
	commits := l.commits(d, r, l.o.Now())
	l.applyClaims(d)
	upTo := l.revisions.upTo(d.revision)
	if len(commits) > 0 {
		upTo = commits[len(commits)-1].Revision
	}
	l.applyGuards(d, upTo)
	l.countChanges(commits)
	l.applyMarks(d)
	l.subscriber(commits, upTo)
	switch {
	case d.fingerprint.revision > 0:
		l.setFingerprint(d.fingerprint)
	case slices.Contains(d.erased, l.fingerprint().writer):
		l.setFingerprint(fingerprint{})
	}
	l.advance(d.revision, upTo)
	if r != nil {
		l.inFlight = nil
		r.decide(d.revision, upTo, commits)
	}
}

func (r *round) decide(revision int64, upTo persist.Revision, commits []persist.Commit) {
	r.revision, r.upTo, r.committed = revision, upTo, make([]bool, len(r.writes))
	for i := range commits {
		if at := int(commits[i].Revision & wholeRevision); at < len(r.committed) {
			r.committed[at] = true
		}
	}
	close(r.decided)
}

func (l *Log) applyClaims(d *delivery) {
	if len(d.claims) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range d.claims {
		l.claims.set(e.key, string(e.value), d.revision)
	}
}

func (d *delivery) time(now time.Time) time.Time {
	if d.record != nil && d.record.time.Before(now) {
		return d.record.time
	}
	return now
}

// commits returns the commits of a revision. r is the round that wrote them, or nil if another log
// wrote them. at is their commit time. The follower passes the delivery time, so that clock skew
// between writers does not matter.
func (l *Log) commits(d *delivery, r *round, at time.Time) []persist.Commit {
	if len(d.objects) == 0 {
		return nil
	}
	commits := make([]persist.Commit, 0, len(d.objects))
	for _, e := range d.objects {
		commits = append(commits, l.commitOf(d, r, e, at))
	}
	return commits
}

func (l *Log) commitOf(d *delivery, r *round, e event, at time.Time) persist.Commit {
	n, stored := d.record.deletion(e.key), e.value
	if e.deletes && n != nil {
		stored = n.value
	}
	position, offset, rest, err := splitHead(stored)
	if e.deletes && n == nil { // deleted by another program
		position, offset, rest, err = wholeRevision, -1, nil, nil
	}
	if !e.deletes {
		n = d.record.note(position)
	}
	c := persist.Commit{Revision: l.revisions.of(d.revision, position), Time: at, Index: -1, Key: e.key, Delete: e.deletes, Err: err}
	if r != nil && int(position) < len(r.writes) {
		w := &r.batch[r.writes[position]]
		c.Index, c.Value, c.Metadata = r.writes[position], w.ValueAt(c.Revision), append([]byte(nil), w.Metadata...)
		return c
	}
	if c.Value = rest; err != nil {
		return c
	}
	place := persist.Place{Key: e.key, Revision: c.Revision, Unversioned: true, Replaced: e.deletes}
	if c.Value, c.Err = l.decode(place, rest); c.Err != nil {
		return c
	}
	if c.Value, c.Err = valueAt(c.Value, offset, c.Revision); c.Err != nil {
		return c
	}
	if n != nil {
		place.Metadata, place.Replaced = true, true
		if c.Metadata, err = l.decode(place, n.metadata); err != nil {
			c.Metadata, c.Err = nil, err
		}
	}
	return c
}

// decode returns the decoded value, or the stored bytes and an error if the value is unreadable. It
// retries while the key management service is unreachable.
func (l *Log) decode(at persist.Place, stored []byte) ([]byte, error) {
	if l.o.Transformer == nil || len(stored) == 0 {
		return append([]byte(nil), stored...), nil
	}
	for {
		value, err := l.o.Transformer.Decode(at, stored)
		switch {
		case err == nil:
			return value, nil
		case !errors.Is(err, persist.ErrUnavailable):
			return stored, err
		}
		l.o.Logger.Error("etcd: a value cannot be decrypted yet", "place", at.String(), "error", err)
		if wait(l.ctx, time.Second) != nil {
			return stored, fmt.Errorf("%w: %w", errClosed, err)
		}
	}
}

// rebuild reloads the whole state, because undelivered changes were compacted.
func (l *Log) rebuild() error {
	l.stats.rebuilds.Add(1)
	if l.state == nil {
		return errors.New("changes were compacted before they were read, and the state is not loaded yet")
	}
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(l.ctx))
	defer cancel()
	revision, begun, err := l.beginHistory(ctx)
	if err != nil {
		return err
	}
	claims := newClaims()
	if err := l.readClaims(ctx, revision, &claims); err != nil {
		return err
	}
	guards, err := l.readGuards(ctx, revision)
	if err != nil {
		return err
	}
	l.delivering.Lock()
	defer l.delivering.Unlock()
	err = l.state.Rebuild(l.revisions.upTo(revision), func(yield func(persist.Item) error) error {
		return l.readItems(ctx, "", revision, yield)
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	for name, g := range guards {
		if known := l.guards[name]; known.at == g.at { // its raiser is known
			guards[name] = known
		}
	}
	l.claims, l.guards, l.forgotten = claims, guards, l.revisions.upTo(revision)
	l.mu.Unlock()
	if r := l.inFlight; r != nil { // the round may be among the compacted ones
		l.inFlight, r.lost = nil, true
		close(r.decided)
	}
	l.unverified = true
	l.setFingerprint(begun)
	l.advance(revision, l.revisions.upTo(revision))
	l.o.Logger.Warn("etcd: changes were compacted before they were read; the state was read again", "revision", revision)
	return nil
}
