package etcd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/troupe-api/troupe/persist"
)

// A Log is one process's view of a store in etcd. The lock order is delivering, then mu.
type Log struct {
	o         Options
	client    *clientv3.Client
	keys      keys
	revisions revisions
	writer    string // writer name in this log's record key

	state      persist.AppliedState // state of the caller; may be nil
	subscriber func([]persist.Commit, persist.Revision)
	ctx        context.Context // canceled by Close
	cancel     context.CancelFunc
	running    sync.WaitGroup

	appending sync.Mutex // held by Append; guards this block
	number    uint64     // number of the newest transaction
	recordAt  int64      // mod_revision of the record; 0 if there is none
	undecided bool       // the outcome of the newest transaction is unknown, or there was none yet
	maxOps    int        // maximum operations per transaction
	maxBytes  int        // maximum bytes per request, as far as known

	watches    watches
	unverified bool // the next watch may begin without a fingerprint; only the follower uses it, after Recover

	// delivering is held while the subscriber is called. It also guards inFlight.
	delivering lock
	inFlight   *round // round whose commits the follower attributes to Append

	mu       sync.Mutex       // held only briefly; guards the following fields
	applied  int64            // newest delivered etcd revision
	version  persist.Revision // log revision of applied, as reported to the subscriber
	advanced chan struct{}
	newest   fingerprint // fingerprint of the delivered history
	claims   claims
	guards   map[string]guard // guards by name
	dropped  int64            // older records and guards may have been deleted because of their age
	// forgotten is the newest revision at which guards missing from the map may have been raised.
	forgotten persist.Revision

	copying  sync.Mutex // held while the copy is written
	copy     localCopy
	identity origin // identifies the servers; has no mark

	confirmations confirmations
	health        health
	stats         stats
	compaction    compaction // used only by Trim
	compacted     atomic.Int64
	failed        atomic.Pointer[error]
}

// A lock is a mutex that a goroutine may hold while it waits for the servers. In testing/synctest,
// time advances while others wait for it, as it would not with a sync.Mutex.
type lock chan struct{}

func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }

type stats struct {
	batches, rounds, commits, refused, undecided, rebuilds, confirmations, reopened, keysRead, bytesRead atomic.Uint64
	seconds                                                                                              secondsCounter
}

type secondsCounter struct{ nanoseconds atomic.Int64 }

func (s *secondsCounter) since(begin time.Time) { s.nanoseconds.Add(int64(time.Since(begin))) }
func (s *secondsCounter) seconds() float64      { return time.Duration(s.nanoseconds.Load()).Seconds() }

var (
	_ persist.Log = (*Log)(nil)

	errClosed       = errors.New("etcd: log is closed")
	errNotRecovered = errors.New("etcd: Recover must succeed first")
)

const (
	// defaultMaxOps is etcd's default limit for operations in a transaction (--max-txn-ops).
	defaultMaxOps = 128
	// minOps is the lowest operation limit that any single write fits.
	minOps = 8
	// defaultMaxBytes leaves room below etcd's default limit of 1.5 MiB (--max-request-bytes).
	defaultMaxBytes = 1 << 20
)

// Open connects to the store and creates it if it does not exist. It returns persist.ErrUnavailable
// if no server responds in time.
func Open(ctx context.Context, o Options) (*Log, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	o = o.withDefaults()
	l := &Log{
		o: o, keys: keys{o.Prefix}, writer: newWriter(), maxOps: defaultMaxOps, maxBytes: defaultMaxBytes,
		undecided: true, delivering: make(lock, 1), advanced: make(chan struct{}), claims: newClaims(), guards: map[string]guard{}, copy: localCopy{files: persist.LocalCopy{Dir: o.CopyDir}, name: rand.Text()},
	}
	var err error
	if l.client, err = connect(o, grpc.WithChainStreamInterceptor(l.watches.intercept)); err != nil {
		return nil, err
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	if err := l.explained(ctx, l.prepare); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// openTimeout limits each request while a store is opened or read.
const openTimeout = 15 * time.Second

func (l *Log) prepare(ctx context.Context) error {
	ctx, cancel := bounded(ctx, openTimeout)
	defer cancel()
	if err := l.checkVersions(ctx); err != nil {
		return err
	}
	found, err := l.client.Get(ctx, l.keys.format())
	if err != nil {
		return l.unavailable(err)
	}
	if len(found.Kvs) == 0 {
		if err := l.refuseFilling(ctx); err != nil {
			return err
		}
		if l.o.MustExist {
			return fmt.Errorf("etcd: no store of this program below %s", l.keys.prefix)
		}
		if err := l.initialize(ctx); err != nil {
			return err
		}
		if found, err = l.client.Get(ctx, l.keys.format()); err != nil {
			return l.unavailable(err)
		}
	}
	if err := l.refuseFilling(ctx); err != nil {
		return err
	}
	if len(found.Kvs) == 0 {
		return fmt.Errorf("etcd: %s was deleted again", l.keys.format())
	}
	format := found.Kvs[0]
	l.identity = origin{Cluster: found.Header.ClusterId, Prefix: l.keys.prefix, Format: string(format.Value), Created: format.CreateRevision}
	if l.revisions.base, err = decodeFormat(format.Value); err != nil {
		return err
	}
	return l.revisions.check(found.Header.Revision)
}

func (l *Log) refuseFilling(ctx context.Context) error {
	found, err := l.client.Get(ctx, l.keys.filling(), clientv3.WithKeysOnly())
	switch {
	case err != nil:
		return l.unavailable(err)
	case len(found.Kvs) > 0:
		return fmt.Errorf("etcd: a migration to %s is under way or was interrupted: wait for it, or run it again", l.keys.prefix)
	}
	return nil
}

// initialize writes the format key into an empty prefix. Another process may do so concurrently.
func (l *Log) initialize(ctx context.Context) error {
	others, err := l.client.Get(ctx, l.keys.all(), clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
	if err != nil {
		return l.unavailable(err)
	}
	if len(others.Kvs) > 0 && string(others.Kvs[0].Key) != l.keys.format() {
		return fmt.Errorf("etcd: keys below %s belong to another program, such as %s: choose another prefix", l.keys.prefix, others.Kvs[0].Key)
	}
	absent := clientv3.Compare(clientv3.CreateRevision(l.keys.format()), "=", 0)
	unmarked := clientv3.Compare(clientv3.CreateRevision(l.keys.filling()), "=", 0)
	if _, err := l.client.Txn(ctx).If(absent, unmarked).Then(clientv3.OpPut(l.keys.format(), encodeFormat(l.o.Base))).Commit(); err != nil {
		return l.unavailable(err)
	}
	return nil
}

// oldest maps a minor version to its minimum patch version. Older servers may report watch progress
// before sending all changes.
var oldest = map[string]int{"3.4": 25, "3.5": 8}

// checkVersions rejects servers that are too old. It ignores unreachable servers.
func (l *Log) checkVersions(ctx context.Context) error {
	for _, e := range l.client.Endpoints() {
		ctx, cancel := context.WithTimeout(ctx, l.o.HealthCheckTimeout)
		status, err := l.client.Status(ctx, e)
		cancel()
		if err != nil {
			continue
		}
		var major, minor, patch int
		if n, _ := fmt.Sscanf(status.Version, "%d.%d.%d", &major, &minor, &patch); n != 3 {
			continue
		}
		least, old := oldest[fmt.Sprintf("%d.%d", major, minor)]
		if major < 3 || major == 3 && minor < 4 || old && patch < least {
			return fmt.Errorf("etcd: %s has version %s; 3.4.%d, 3.5.%d or 3.6 is needed", e, status.Version, oldest["3.4"], oldest["3.5"])
		}
	}
	return nil
}

func (l *Log) unavailable(err error) error {
	return fmt.Errorf("%w: etcd at %v: %w", persist.ErrUnavailable, l.o.Endpoints, err)
}

// Subscribe implements persist.Log. It also starts the follower.
func (l *Log) Subscribe(fn func(batch []persist.Commit, upTo persist.Revision)) {
	l.subscriber = fn
	l.running.Go(l.follow)
	l.running.Go(l.watchHealth)
}

func (l *Log) Stats() persist.Stats {
	return persist.Stats{
		Segments:      2, // makes the caller call Trim
		SinceSnapshot: l.copy.changed(), SnapshotBytes: l.copy.bytes.Load(), SnapshotAtEnd: l.wantsCopy(),
		Batches: l.stats.batches.Load(), Commits: l.stats.commits.Load(), Syncs: l.stats.rounds.Load(), SyncSeconds: l.stats.seconds.seconds(),
	}
}

// Close implements persist.Log. It aborts a transaction in progress, whose outcome is then unknown.
func (l *Log) Close() error {
	l.cancel()
	l.appending.Lock()
	defer l.appending.Unlock()
	l.copying.Lock() // aborts a copy in progress
	defer l.copying.Unlock()
	l.running.Wait()
	err := l.client.Close()
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return err
}

func (l *Log) advance(to int64, version persist.Revision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if to <= l.applied {
		return
	}
	l.applied, l.version = to, version
	close(l.advanced)
	l.advanced = make(chan struct{})
}

// appliedRevision returns the newest delivered etcd revision and a channel that is closed when it
// increases.
func (l *Log) appliedRevision() (int64, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.applied, l.advanced
}

func (l *Log) appliedVersion() persist.Revision {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}

func (l *Log) awaitApplied(ctx context.Context, revision int64) error {
	for {
		applied, advanced := l.appliedRevision()
		if applied >= revision {
			return nil
		}
		select {
		case <-advanced:
		case <-ctx.Done():
			return ctx.Err()
		case <-l.ctx.Done():
			return errClosed
		}
	}
}
