package storage

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers/policyobjects"
	front "github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist/etcd"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/quota"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/etcdmodel"
)

// A simulatedReplica is one server on the model of etcd during one lifetime.
type simulatedReplica struct {
	*client.Client
	network *network
	log     *etcd.Log
	store   *actors.Store
	clients *actors.ClientStore
	front   *front.Server
	cancel  context.CancelFunc // ends the caches of admission
	fatal   atomic.Pointer[error]
	// outdated is set if etcd may have another history than the server, with the same versions.
	outdated atomic.Bool
	taken    atomic.Uint64 // version at which the server became the leader
}

type replicaOptions struct {
	kinds   *catalog.Catalog
	cluster *etcdmodel.Cluster
	link    *etcdmodel.Link
	now     func() time.Time
	copyDir string // "" means no local copy
	history time.Duration
}

var ownService = meta.Key{GroupResource: meta.GroupResource{Resource: "services"}, Namespace: "default", Name: "platform"}

// Limits of the simulated servers. The ranges are small, so that their values are reused often.
const (
	replicaWriteTimeout  = 4 * time.Second
	replicaHealthTimeout = time.Second
	replicaCompaction    = 20 * time.Second
	serviceRange         = "10.0.0.0/28"
	nodePortRange        = "30000-30009"
	serviceQuota         = 5
)

func serveReplica(o replicaOptions) (*simulatedReplica, error) {
	quiet := slog.New(slog.DiscardHandler)
	s := &simulatedReplica{network: newNetwork()}
	fatal := func(err error) { s.fatal.CompareAndSwap(nil, &err) }
	var err error
	s.log, err = etcd.Open(context.Background(), etcd.Options{
		Endpoints: o.cluster.URLs(), Dial: o.link.Dial, CopyDir: o.copyDir, Now: o.now, Logger: quiet, Fatal: fatal,
		WriteTimeout: replicaWriteTimeout, HealthCheckTimeout: replicaHealthTimeout, CompactionInterval: replicaCompaction,
	})
	if err != nil {
		return nil, err
	}
	ranges, err := allocation.ParseRanges(serviceRange)
	if err != nil {
		return nil, err
	}
	ports, err := allocation.ParsePortRange(nodePortRange)
	if err != nil {
		return nil, err
	}
	tuning := actors.DefaultTuning()
	tuning.BatchSize, tuning.HistoryTime, tuning.SnapshotBytes, tuning.IdleTime = etcd.MaxBatch, o.history, 16<<10, time.Second
	quotas := quota.New(meta.Platform, quiet, true)
	s.store, err = actors.Open(actors.Options{
		Log: s.log, Catalog: o.kinds, Naming: meta.Platform, Tuning: tuning, Now: o.now, Logger: quiet, Fatal: fatal, Observer: quotas,
		Allocators: allocation.NewServiceAllocator(ranges, ports, ownService, meta.Platform).Allocators(),
	})
	if err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	objects := policyobjects.NewReader(s.store, o.kinds, quiet, nil)
	chain := admission.New(meta.Platform, admission.PluginConfig{}, quotas.Registrations(quotas.Follower(objects), quota.NewConfig(nil)))
	for _, cache := range chain.Caches() {
		if err := cache.Follow(ctx, objects); err != nil {
			return nil, err
		}
	}
	newest := func(ctx context.Context) (uint64, error) {
		revision, err := s.log.Current(ctx)
		return uint64(revision), err
	}
	s.clients = actors.NewClientStore(s.store, actors.ClientStoreOptions{
		Newest: newest, Definitions: noCustomKinds{}, Observers: objects,
		IsObserved: func(storage meta.GroupResource) bool { return storage.Resource == "resourcequotas" },
	})
	s.front, err = front.New(front.Options{
		Naming: meta.Platform, Catalog: o.kinds, Authenticator: admin{}, Authorizer: authz.Masters{}, Listener: s.network, Logger: quiet,
		Store: s.clients, Admission: chain,
	})
	if err != nil {
		return nil, err
	}
	go func() { _ = s.front.Serve() }() // Serve returns when the network is closed
	s.Client = client.Over("http://troupe", s.network.transport())
	return s, nil
}

// noCustomKinds replaces the controller of CustomResourceDefinitions.
type noCustomKinds struct{}

func (noCustomKinds) Handles(*schema.Kind) bool    { return false }
func (noCustomKinds) Wait(context.Context, uint64) {}
func (noCustomKinds) CatchUp(context.Context)      {}

// stop ends the server. Its log fails if the link to etcd is broken.
func (s *simulatedReplica) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), client.Watchdog)
	defer cancel()
	s.Close()
	s.cancel()
	err := s.front.Shutdown(ctx)
	_ = s.store.Close(ctx) // a failed store or log returns its error again
	_ = s.log.Close()
	return errors.Join(err, ctx.Err())
}

// mutate changes a ConfigMap as a component of the server does.
func (s *simulatedReplica) mutate(ctx context.Context, kinds *catalog.Catalog, m request.Mutation) (uint64, error) {
	for _, k := range kinds.StorageKinds() {
		if k.Storage == (meta.GroupResource{Resource: "configmaps"}) {
			m.Kind = k
		}
	}
	m.Key.Namespace = "default"
	result, err := s.clients.Mutate(ctx, m)
	if err != nil {
		return 0, err
	}
	return result.Object.Version, nil
}
