package etcd

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// Servers that were replaced or restored from a backup have a different history. It may lack
// delivered commits, even if its revisions are the same or higher. A log that detects this fails,
// because it cannot undo delivered commits.

// A fingerprint identifies the history up to a revision by the record written at that revision.
// Each record is unique, because it has a random writer name, a number and a time. The zero value
// identifies no history.
type fingerprint struct {
	revision int64 // etcd revision
	writer   string
	digest   uint64 // digest of the record
}

var fingerprintSeed = maphash.MakeSeed()

func newFingerprint(revision int64, writer string, record []byte) fingerprint {
	return fingerprint{revision, writer, maphash.Bytes(fingerprintSeed, record)}
}

func newWriter() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // it never returns an error
	return hex.EncodeToString(id[:])
}

// beginHistory writes a record with a new writer name and returns its revision and fingerprint. The
// caller reads the state at that revision. If the servers accept no writes, beginHistory returns
// the newest revision and no fingerprint.
func (l *Log) beginHistory(ctx context.Context) (int64, fingerprint, error) {
	now, err := l.ask(ctx, l.o.WriteTimeout)
	if err != nil {
		return 0, fingerprint{}, l.unavailable(err)
	}
	attempt, cancel := context.WithTimeout(ctx, l.o.WriteTimeout)
	defer cancel()
	writer, record := newWriter(), (&record{number: 1, time: l.o.Now()}).encode()
	done, err := l.client.Txn(attempt).If(l.sameStore()).Then(clientv3.OpPut(l.keys.record(writer), string(record))).Commit()
	switch {
	case refusal(err) != nil:
		return now.revision, fingerprint{}, nil
	case err != nil:
		return 0, fingerprint{}, l.unavailable(err)
	case !done.Succeeded:
		return 0, fingerprint{}, l.failReplaced()
	}
	if err := l.checkHistory(now.revision, done.Header); err != nil {
		return 0, fingerprint{}, err
	}
	return done.Header.Revision, newFingerprint(done.Header.Revision, writer, record), nil
}

// sameStore returns a condition that holds while the format key is the one that Open read. The
// format key is written only once.
func (l *Log) sameStore() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(l.keys.format()), "=", l.identity.Created)
}

func (l *Log) fingerprint() fingerprint {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newest
}

func (l *Log) setFingerprint(f fingerprint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.newest = f
}

// A replay verifies the start of a watch, which begins at the fingerprint's revision and must
// repeat the delivered revisions.
type replay struct {
	fingerprint fingerprint
	delivered   int64 // newest delivered etcd revision
	seen        bool  // whether the fingerprint's revision was received
}

// errUnidentified ends a watch whose history cannot be verified.
var errUnidentified = errors.New("nothing identifies the history that was delivered")

func (r *replay) check(d *delivery) error {
	switch f := r.fingerprint; {
	case f.revision == 0, d.revision < f.revision:
		return nil
	case !r.seen && d.fingerprint != f:
		return fmt.Errorf("revision %d does not have the record that was delivered with it", f.revision)
	case r.seen && d.revision <= r.delivered && d.fingerprint.revision > 0:
		return fmt.Errorf("revision %d has a record that was not delivered", d.revision)
	}
	r.seen = true
	return nil
}

// checkProgress returns an error if the servers have passed the fingerprint's revision without
// sending its record. It returns nil for a lagging member that has not reached that revision yet.
func (r *replay) checkProgress(revision int64) error {
	if f := r.fingerprint; !r.seen && f.revision > 0 && revision >= f.revision {
		return fmt.Errorf("revision %d, whose record was delivered, changes nothing", f.revision)
	}
	return nil
}

// checkHistory verifies that a linearizable response comes from the same cluster and is not too
// old. before is a revision that was applied before the request.
func (l *Log) checkHistory(before int64, answer *pb.ResponseHeader) error {
	switch {
	case answer.Revision < before:
		return l.fail(fmt.Errorf("etcd: the servers went back from revision %d to %d, as after a restore from a backup: restart this process", before, answer.Revision))
	case answer.ClusterId != l.identity.Cluster:
		return l.fail(fmt.Errorf("etcd: the servers were cluster %x and are now cluster %x: restart this process", l.identity.Cluster, answer.ClusterId))
	}
	if err := l.revisions.check(answer.Revision); err != nil {
		return l.fail(err)
	}
	return nil
}

type moment struct {
	revision int64
	known    fingerprint // fingerprint before the request
	found    int64       // mod_revision of its record; 0 if the record does not exist
}

// ask reads the newest revision and the record key of the fingerprint from the servers. It returns
// persist.ErrFailed if the servers have a different history.
func (l *Log) ask(ctx context.Context, timeout time.Duration) (moment, error) {
	if err := l.failure(); err != nil {
		return moment{}, err
	}
	before, _ := l.appliedRevision()
	now := moment{known: l.fingerprint()}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := l.client.Get(ctx, l.keys.record(now.known.writer), clientv3.WithKeysOnly())
	if err != nil {
		return moment{}, err
	}
	if err := l.checkHistory(before, found.Header); err != nil {
		return moment{}, err
	}
	if now.revision = found.Header.Revision; len(found.Kvs) > 0 && now.known.revision > 0 {
		if now.found = found.Kvs[0].ModRevision; now.found < now.known.revision {
			return moment{}, l.failRecord(now.known.revision, now.found)
		}
	}
	return now, nil
}

// check verifies the fingerprint's record. If the record has changed, the watch must have delivered
// the change. Otherwise the servers have a different history, as after a restore with raised
// revisions.
func (l *Log) check(at moment) error {
	if at.found == at.known.revision {
		return nil
	}
	if now := l.fingerprint(); now == at.known || 0 < now.revision && now.revision < at.found {
		return l.failRecord(at.known.revision, at.found)
	}
	return nil
}

func (l *Log) confirmHistory(ctx context.Context) error {
	now, err := l.ask(ctx, l.o.WriteTimeout)
	if err == nil {
		err = l.awaitConfirmed(ctx, now.revision)
	}
	if err == nil {
		err = l.check(now)
	}
	return err
}

func (l *Log) failHistory(why error) error {
	return l.fail(fmt.Errorf("etcd: %w, as after a restore from a backup: restart this process", why))
}

func (l *Log) failRecord(from, to int64) error {
	return l.fail(fmt.Errorf("etcd: a record went back from revision %d to %d, as after a restore from a backup: restart this process", from, to))
}

func (l *Log) failReplaced() error {
	return l.fail(fmt.Errorf("etcd: %s was deleted or rewritten, as after a restore from a backup: restart this process", l.keys.format()))
}

// fail marks the log as failed, so that it neither writes nor confirms reads. It returns the first
// cause.
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

func (l *Log) failure() error {
	if err := l.failed.Load(); err != nil {
		return *err
	}
	return nil
}
