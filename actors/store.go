package actors

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/actors/internal/conversion"
	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/internal/cache"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// Store holds all objects. Its methods are safe for concurrent use between Open and Close.
type Store struct {
	id      string // ID of this process, visible to other processes on the same log
	log     persist.Log
	catalog *catalog.Catalog
	naming  *meta.Naming
	logger  *slog.Logger
	tuning  Tuning
	now     func() time.Time
	// objectTime is the clock for timestamps in objects.
	objectTime func() time.Time
	fatal      func(error)
	metrics    counters
	observer   Observer
	recorder   *Recorder // may be nil
	stale      func(key string, version persist.Revision) bool
	rewrites   func() uint64 // Options.Rewrites
	// lastApplied is the name of kubectl's last-applied annotation.
	lastApplied string

	runtime   *runtime.Runtime
	committer *runtime.Ref
	// embedded means that the log is on a local disk and that only this process writes to it.
	embedded   bool
	inProgress atomic.Int32 // proposals that are not resolved
	lastBatch  atomic.Int32 // number of writes

	// collections is copied on write when the collection of a custom kind is added or removed.
	collections      atomic.Pointer[map[meta.GroupResource]*collection]
	addingCollection sync.Mutex // held while a collection is added after the start, or removed
	registeringKind  sync.Mutex // held while a custom kind is added, changed or removed
	appliedRevision  appliedRevision
	conversions      *conversion.Service
	quarantine       quarantine
	retention        *retention                          // budget of the histories of all collections
	logReads         chan struct{}                       // holds an element for each running read of the log
	logReaders       *cache.Cache[string, chan struct{}] // the same for each user
	logged           atomic.Pointer[loggedState]         // state of the last chunked list

	retry       snapshotRetry // retry of snapshots; only maintain uses it
	failed      atomic.Pointer[error]
	closing     atomic.Bool
	hurry       atomic.Bool     // the store is closing and has no time for a snapshot
	compactions chan chan error // requested by Compact
	stop        chan struct{}
	maintenance sync.WaitGroup
}

func (s *Store) isStale(o *meta.Object) bool {
	return s.stale != nil && s.stale(o.Key.String(), persist.Revision(o.Version))
}

// Open recovers the state from the log and starts the actors.
func Open(o Options) (*Store, error) {
	if err := o.Tuning.Validate(); err != nil {
		return nil, fmt.Errorf("tuning: %w", err)
	}
	s := &Store{
		id: rand.Text()[:8], log: o.Log, catalog: o.Catalog, naming: o.Naming, logger: o.Logger, tuning: o.Tuning, now: o.Now, fatal: o.Fatal, observer: o.Observer, recorder: o.Recorder, stale: o.Stale, rewrites: o.Rewrites,
		retention: newRetention(o.Tuning.HistoryBytes), conversions: conversion.NewService(o.Converter), compactions: make(chan chan error), logReads: make(chan struct{}, maxLogReads), logReaders: cache.New[string, chan struct{}](maxLogReaders), stop: make(chan struct{}),
	}
	s.lastApplied = o.Naming.Translate("kubectl.platform.io/last-applied-configuration")
	if s.now == nil {
		s.now = time.Now
	}
	if s.objectTime = o.ObjectTime; s.objectTime == nil {
		s.objectTime = s.now
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.runtime = runtime.New(runtime.Options{Throughput: s.tuning.Throughput, Supervision: s.tuning.supervision(), Logger: s.logger})
	if err := s.recover(o.Image); err != nil {
		return nil, err
	}
	s.logUnreadable()
	if err := s.setAllocators(o.Allocators); err != nil {
		return nil, err
	}
	if s.recorder != nil {
		s.recorder.store.Store(s)
	}
	s.start()
	if err := s.ensureNamespaces(); err != nil {
		return nil, errors.Join(err, s.Close(context.Background()))
	}
	return s, nil
}

func (s *Store) start() {
	for _, c := range s.allCollections() {
		s.startPublisher(c)
	}
	owner := &committer{store: s}
	_, s.embedded = s.log.(*persist.Journal)
	s.committer = s.runtime.Spawn(runtime.Spec{New: func() runtime.Owner { return owner }, MailboxSize: s.tuning.CommitQueue})
	s.log.Subscribe(owner.publishBatch)
	s.maintenance.Add(1)
	go s.maintain()
}

func (s *Store) startPublisher(c *collection) {
	c.publisher = s.runtime.Spawn(runtime.Spec{New: func() runtime.Owner { return &publisher{collection: c} }})
}

func (s *Store) collection(k *schema.Kind) *collection { return s.allCollections()[k.Storage] }

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

// Version returns the newest version that is visible to all reads.
func (s *Store) Version() uint64 { return s.appliedRevision.get() }

// AwaitVersion blocks until a committed version is visible to all reads.
func (s *Store) AwaitVersion(ctx context.Context, version uint64) error {
	return s.appliedRevision.await(ctx, version)
}

// Healthy returns nil while the store accepts changes. Otherwise it returns the reason.
func (s *Store) Healthy() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *Store) fail(err error) {
	if s.failed.CompareAndSwap(nil, &err) {
		s.logger.Error("storage failure", "error", err)
		if s.fatal != nil {
			s.fatal(err)
		}
	}
}

// Close ends all watches, waits until accepted changes are applied, and stops the actors. It does
// not close the log.
func (s *Store) Close(ctx context.Context) error {
	if s.closing.Swap(true) {
		return nil
	}
	s.endMaintenance(ctx)
	var refs []*runtime.Ref
	for _, c := range s.allCollections() {
		c.watchers.each(func(w *watch) {
			refs = append(refs, w.ref)
			w.Stop()
		})
	}
	for _, c := range s.allCollections() {
		for _, a := range c.activations.close() {
			refs = append(refs, a.ref)
			a.ref.Stop()
		}
	}
	err := errors.Join(s.runtime.Await(ctx, refs...), s.conversions.Close(ctx))
	s.committer.Drain()
	err = errors.Join(err, s.runtime.Await(ctx, s.committer))
	for _, c := range s.allCollections() {
		c.publisher.Drain()
		err = errors.Join(err, s.runtime.Await(ctx, c.publisher))
	}
	s.runtime.Close()
	return err
}
