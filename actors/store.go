package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// Store is the face of the house of actors: everything that can be done with objects.
// All of its methods may be called by anyone at any time between Open and Close.
type Store struct {
	log     persist.Log
	catalog *catalog.Catalog
	naming  *meta.Naming
	logger  *slog.Logger
	tuning  Tuning
	now     func() time.Time
	fatal   func(error)
	metrics counters
	// lastApplied names the annotation in which clients keep what they have applied.
	lastApplied string

	system      *actor.ActorSystem
	supervisor  actor.SupervisorStrategy
	dispatcher  *dispatcher
	committer   *actor.PID
	commitQueue *mailbox // the committer's

	// collections is copied when one is added (addCollection), which happens to custom kinds.
	collections      atomic.Pointer[map[meta.GroupResource]*collection]
	addingCollection sync.Mutex // held while one is added after the start
	appliedRevision  appliedRevision
	conversionCache  conversionCache
	quarantine       quarantine
	retention        *retention // of the histories of all collections

	retry       snapshotRetry // of snapshots; of who keeps the store
	failed      atomic.Pointer[error]
	closing     atomic.Bool
	stop        chan struct{}
	maintenance sync.WaitGroup
}

// Open recovers the state from the log and starts the actors.
func Open(o Options) (*Store, error) {
	if err := o.Tuning.Validate(); err != nil {
		return nil, fmt.Errorf("tuning: %w", err)
	}
	s := &Store{
		log: o.Log, catalog: o.Catalog, naming: o.Naming, logger: o.Logger, tuning: o.Tuning, now: o.Now, fatal: o.Fatal,
		retention: newRetention(o.Tuning.HistoryBytes), stop: make(chan struct{}),
	}
	s.collections.Store(&map[meta.GroupResource]*collection{})
	s.lastApplied = o.Naming.Translate("kubectl.platform.io/last-applied-configuration")
	if s.now == nil {
		s.now = time.Now
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.system = newSystem()
	s.dispatcher = newDispatcher(s.tuning.Throughput)
	s.supervisor = &supervisor{tuning: s.tuning, log: s.logger, metrics: &s.metrics}
	if err := s.recover(); err != nil {
		return nil, err
	}
	s.logUnreadable()
	if err := s.setAllocators(o.Allocators); err != nil {
		return nil, err
	}
	s.start()
	if err := s.ensureNamespaces(); err != nil {
		return nil, errors.Join(err, s.Close(context.Background()))
	}
	return s, nil
}

// start spawns the actors that live as long as the store.
func (s *Store) start() {
	for _, c := range s.allCollections() {
		s.startPublisher(c)
	}
	s.commitQueue = newMailbox(s.tuning.CommitQueue)
	owner := &committer{store: s, mailbox: s.commitQueue}
	s.committer = s.spawn(func() actor.Actor { return owner }, s.commitQueue)
	s.log.Subscribe(owner.publishBatch)
	s.maintenance.Add(1)
	go s.maintain()
}

// startPublisher starts the publisher of a collection.
func (s *Store) startPublisher(c *collection) {
	c.pid = s.spawn(func() actor.Actor { return &publisher{collection: c} }, newMailbox(0))
}

// spawn starts an actor under the supervision of the configuration.
func (s *Store) spawn(producer actor.Producer, box *mailbox) *actor.PID {
	return s.system.Root.Spawn(actor.PropsFromProducer(producer,
		actor.WithMailbox(func() actor.Mailbox { return box }),
		actor.WithDispatcher(s.dispatcher),
		actor.WithGuardian(s.supervisor)))
}

// collection finds the collection of a kind.
func (s *Store) collection(k *schema.Kind) *collection { return s.allCollections()[k.Storage] }

// decode reads a committed value by its key.
func (s *Store) decode(key string, revision persist.Revision, value []byte) (*collection, *meta.Object, error) {
	parsed, err := meta.ParseKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("stored key %q: %w", key, err)
	}
	c := s.allCollections()[parsed.GroupResource]
	if c == nil {
		return nil, nil, fmt.Errorf("stored key %q: no such kind is served", key)
	}
	object, err := codec.NewObject(c.kind(), parsed, uint64(revision), value)
	if err != nil {
		return nil, nil, fmt.Errorf("stored object %q: %w", key, err)
	}
	return c, object, nil
}

// Version is the newest version that every read shows.
func (s *Store) Version() uint64 { return s.appliedRevision.get() }

// keyRevision is the revision of a live key as far as it is published; the log asks it.
func (s *Store) keyRevision(key string) persist.Revision {
	parsed, err := meta.ParseKey(key)
	if err != nil {
		return 0
	}
	c := s.allCollections()[parsed.GroupResource]
	if c == nil {
		return 0
	}
	if o := c.published.Load().get(path(parsed.Namespace, parsed.Name)); o != nil {
		return persist.Revision(o.Version)
	}
	if a := s.quarantine.get(parsed); a != nil {
		return a.item.Revision
	}
	return 0
}

// applied is the revision up to which everything is published; the log asks it.
func (s *Store) applied() persist.Revision { return persist.Revision(s.appliedRevision.get()) }

// Healthy is nil while the store accepts changes.
func (s *Store) Healthy() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// fail makes the store refuse changes for ever, and tells the process to end.
func (s *Store) fail(err error) {
	if s.failed.CompareAndSwap(nil, &err) {
		s.logger.Error("the store has failed", "error", err)
		if s.fatal != nil {
			s.fatal(err)
		}
	}
}

// Close ends all watches, lets every accepted change land, and stops the actors. The
// log stays open; the caller closes it afterwards.
func (s *Store) Close(ctx context.Context) error {
	if s.closing.Swap(true) {
		return nil
	}
	close(s.stop)
	s.maintenance.Wait()
	var pids []*actor.PID
	for _, c := range s.allCollections() {
		c.watchers.each(func(l *watchHandle) {
			pids = append(pids, l.pid)
			l.Stop()
		})
	}
	for _, c := range s.allCollections() {
		for _, r := range c.activations.close() {
			pids = append(pids, r.pid)
			s.system.Root.Stop(r.pid)
		}
	}
	err := s.awaitStopped(ctx, pids)
	err = errors.Join(err, s.awaitStopped(ctx, s.poison(s.committer)))
	for _, c := range s.allCollections() {
		err = errors.Join(err, s.awaitStopped(ctx, s.poison(c.pid)))
	}
	s.dispatcher.close()
	return err
}

// poison lets an actor handle what is queued, and then stop.
func (s *Store) poison(pid *actor.PID) []*actor.PID {
	s.system.Root.Poison(pid)
	return []*actor.PID{pid}
}

// awaitStopped waits until actors are gone.
func (s *Store) awaitStopped(ctx context.Context, pids []*actor.PID) error {
	for _, pid := range pids {
		for alive := true; alive; {
			if _, alive = s.system.ProcessRegistry.GetLocal(pid.Id); !alive {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("actor %s has not stopped: %w", pid.Id, ctx.Err())
			case <-time.After(time.Millisecond):
			}
		}
	}
	return nil
}
