package daemon

import (
	"context"
	"maps"
	"reflect"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/actors/controllers/policyobjects"
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist/etcd"
	"github.com/troupe-api/troupe/policy/admission/quota"
	"github.com/troupe-api/troupe/policy/authz/rbac"
	"github.com/troupe-api/troupe/policy/conversion"
)

type storage struct {
	base // runs the memory monitor

	kinds *catalog.Catalog // set by compileKinds

	services           *allocation.ServiceAllocator
	quotas             *quota.Ledger        // tracks quota usage of namespaces
	conversionWebhooks *conversion.Webhooks // policy starts them
	conversionMetrics  *conversion.Metrics
	store              *actors.Store
	objects            *policyobjects.Reader // the store's interface for policy
	memory             *memoryMonitor        // nil without a memory limit
}

func (s *storage) compileKinds() (err error) {
	s.kinds, err = catalog.NewWithConfig(s.naming, s.runtimeConfig(), s.features.Enabled)
	return err
}

// Start opens the store, whose data is in the journal or in etcd, and creates default objects. It
// first adapts the store's memory limits to the process, because most loaded objects stay in
// memory.
func (s *storage) Start() error {
	allocators, err := s.newAllocators()
	if err != nil {
		return err
	}
	tuning := s.config.tuning()
	fitTuning(&tuning)
	shared := s.state.etcd != nil
	if shared {
		tuning.BatchSize = min(tuning.BatchSize, etcd.MaxBatch)
	}
	s.quotas = quota.New(s.naming, s.log, shared)
	s.conversionMetrics = conversion.NewMetrics(func(definition string) bool { return s.kinds.Definition(definition) != nil })
	s.conversionWebhooks = conversion.New(s.naming, s.conversionMetrics)
	var image *actors.Image
	if s.origin != nil {
		image = s.origin.image
	}
	s.store, err = actors.Open(actors.Options{
		Log: s.state.current(), ObjectTime: s.now, Catalog: s.kinds, Naming: s.naming, Logger: s.log, Tuning: tuning, Allocators: allocators, Image: image,
		Observer: s.quotas, Recorder: s.recorder, Converter: s.conversionWebhooks.For, Fatal: s.fatal.report,
		Stale: s.state.encryption.stale(), Rewrites: s.state.rewrites(),
	})
	if err != nil {
		return withAdvice(err)
	}
	s.objects = policyobjects.NewReader(s.store, s.kinds, s.log, s.settings.memory.decoded)
	if s.memory = s.newMemoryMonitor(tuning.HistoryBytes); s.memory != nil {
		s.run(s.memory.run)
	}
	if s.origin == nil || !reflect.DeepEqual(s.rolePages(), s.origin.rolePages) {
		s.ensureDefaults()
	}
	return nil
}

func (s *storage) Stop(ctx context.Context) error {
	err := s.base.Stop(ctx)
	if s.store != nil {
		err = s.store.Close(ctx)
	}
	return err
}

// newAllocators returns the allocators of Service addresses and ports. The store allocates a value
// and stores the object in one step, so that no value is assigned twice.
func (s *storage) newAllocators() (map[meta.GroupResource]mutation.Allocator, error) {
	ranges, err := allocation.ParseRanges(s.config.Services.ClusterIPRange)
	if err != nil {
		return nil, err
	}
	ports, err := allocation.ParsePortRange(s.config.Services.NodePortRange)
	if err != nil {
		return nil, err
	}
	s.services = allocation.NewServiceAllocator(ranges, ports, s.apiService(), s.naming)
	all := s.services.Allocators()
	served := map[meta.GroupResource]bool{}
	for _, k := range s.kinds.StorageKinds() {
		served[k.Storage] = true
	}
	// Kinds that --runtime-config disables are not stored, so they need no allocator.
	maps.DeleteFunc(all, func(storage meta.GroupResource, _ mutation.Allocator) bool { return !served[storage] })
	return all, nil
}

// ensureDefaults creates and repairs the default roles, bindings and system priority classes. In
// roles changed by an operator, it only adds missing rules. It only logs failures, so that the
// daemon starts on a full disk.
func (s *storage) ensureDefaults() {
	if err := rbac.Reconcile(context.Background(), s.store, s.kinds, s.rolePages()); err != nil {
		s.log.Warn("creating the default roles and bindings", "error", err)
	}
	if err := apiserver.EnsureSystemPriorityClasses(context.Background(), controllers.NewEnv(s.store, s.kinds, s.log)); err != nil {
		s.log.Warn("creating the system priority classes", "error", err)
	}
}

func (s *storage) rolePages() (pages rbac.Pages) {
	if s.features.Enabled(features.ComponentFlagz) {
		pages.Monitoring = append(pages.Monitoring, "/flagz")
	}
	if s.features.Enabled(features.ComponentStatusz) {
		pages.Monitoring = append(pages.Monitoring, "/statusz")
	}
	if s.config.Serving.Console {
		pages.Everybody = []string{"/console", "/console/*"}
	}
	return pages
}
