package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/flowcontrol"
)

type frontEnd struct {
	base // runs flow control and backups

	flowControl *flowcontrol.Controller // nil if disabled
	server      *http.Server
}

// Start begins to accept connections. A listener error is fatal, so that a supervisor restarts the
// process.
func (f *frontEnd) Start() error {
	if err := f.startFlowControl(); err != nil {
		return err
	}
	options, err := f.serverOptions()
	if err != nil {
		return err
	}
	if f.server, err = http.New(options); err != nil {
		return err
	}
	go func() {
		if err := f.server.Serve(); err != nil {
			f.fatal.report(fmt.Errorf("serving: %w", err))
		}
	}()
	return nil
}

// conversionGracePeriod is how long conversion webhooks may take to respond during shutdown. It is
// short, because a hanging webhook must not delay the shutdown.
const conversionGracePeriod = 2 * time.Second

func (f *frontEnd) Stop(ctx context.Context) error {
	time.AfterFunc(conversionGracePeriod, f.storage.conversionWebhooks.Close)
	var err error
	if f.server != nil {
		err = f.server.Shutdown(ctx)
	}
	return errors.Join(err, f.base.Stop(ctx))
}

func (f *frontEnd) serverOptions() (none http.Options, err error) {
	secure, err := f.identity.tlsConfig()
	if err != nil {
		return none, err
	}
	s := f.config.Serving
	origins, err := parseOrigins(s.CORSAllowedOrigins)
	if err != nil {
		return none, err
	}
	extra, err := f.oidcDiscovery()
	if err != nil {
		return none, err
	}
	kubelets, err := f.kubeletOptions()
	if err != nil {
		return none, err
	}
	extra[BackupPath] = http.ExtraRoute{Write: func(w io.Writer) error { return f.storage.state.backup(f.ctx, w) }}
	extra[HotPath] = http.ExtraRoute{Write: f.storage.writeHot, ContentType: "application/json"}
	extra[CompactPath] = http.ExtraRoute{Do: f.storage.compact}
	// A nil flags disables /flagz.
	var flags func() map[string]string
	if f.features.Enabled(features.ComponentFlagz) {
		flags = f.config.flagValues
	}
	store := f.clientStore()
	var catchUp func(context.Context) bool
	if f.storage.state.etcd != nil {
		catchUp = store.CatchUp
	}
	return http.Options{
		Naming: f.naming, Catalog: f.storage.kinds, Store: store, CatchUp: catchUp,
		Authenticator:  f.authentication.authenticator,
		Authorizer:     f.policy.authorizer,
		AuthGeneration: f.authentication.generation.Current,
		Audit:          f.policy.auditor,
		Admission:      f.policy.admission,
		Servers:        f.aggregator.Servers,
		Listener:       f.endpoint.listener, TLS: secure, ClientCAs: f.authentication.clientCAs.Pool,
		StrictTransportSecurity: f.config.TLS.strictTransport(), AllowedOrigins: origins,
		ExternalAddress: strings.TrimPrefix(f.endpoint.advertisedURL(), "https://"), Version: Version, GitVersion: f.config.GitVersion, Logger: f.log,
		MemoryMonitor:  f.storage.memoryGauge(),
		Limits:         s.limits(),
		FlowControl:    f.flowControl,
		WriteMetrics:   f.writeMetrics,
		TracerProvider: f.tracing.tracerProvider(),
		Checks:         f.storage.healthChecks(),
		ExtraRoutes:    extra,
		Operations:     f.newOperations(),
		Readers:        map[string]http.Reader{"/v1/componentstatuses": readComponents(f.storage.probedComponents())},
		Members:        f.storage.objects, Kubelets: kubelets,
		Console: f.consoleOptions(), Profiling: s.Profiling, StatusPage: f.features.Enabled(features.ComponentStatusz), Flags: flags,

		CBOR:                f.features.Enabled(features.CBORServingAndStorage),
		DisableCompression:  !f.features.Enabled(features.APIResponseCompression),
		DisableListChunking: !f.features.Enabled(features.APIListChunking),
		DisableWatchList:    !f.features.Enabled(features.WatchList),

		DisableConstrainedImpersonation: !f.features.Enabled(features.ConstrainedImpersonation),

		Faults:        f.faults,
		ShutdownDelay: time.Duration(s.ShutdownDelay),
	}, nil
}

func (f *frontEnd) clientStore() *actors.ClientStore {
	state, objects := f.storage.state, f.storage.objects
	observed := map[meta.GroupResource]bool{}
	for _, r := range slices.Concat(followed(f.policy.admission), []meta.GroupResource{f.aggregator.Resource()}, f.flowControlResources()) {
		observed[objects.Storage(r)] = true
	}
	opts := actors.ClientStoreOptions{Definitions: f.serverControllers.definitions, Observers: objects, IsObserved: func(storage meta.GroupResource) bool {
		return observed[storage] || f.policy.params.Follows(storage)
	}}
	if state.etcd != nil {
		opts.Newest = func(ctx context.Context) (uint64, error) {
			revision, err := state.etcd.Current(ctx)
			return uint64(revision), err
		}
	}
	return actors.NewClientStore(f.storage.store, opts)
}

// writeMetrics writes the metrics of all components except the HTTP server. Disabled components
// have none.
func (f *frontEnd) writeMetrics(w io.Writer) {
	f.writeProcess(w)
	f.writeFeatureGates(w)
	f.storage.store.WriteMetrics(w)
	if log := f.storage.state.etcd; log != nil {
		log.WriteMetrics(w)
	}
	f.storage.memory.writeMetrics(w)
	f.identity.reloader.WriteMetrics(w)
	f.authentication.configMetrics.WriteMetrics(w)
	f.policy.configMetrics.WriteMetrics(w)
	f.policy.authorizerMetrics.WriteMetrics(w)
	f.policy.podSecurity.WriteMetrics(w)
	f.policy.webhookMetrics.WriteMetrics(w)
	f.storage.conversionMetrics.WriteMetrics(w)
	f.policy.policyMetrics.WriteMetrics(w)
	f.serverControllers.apiServiceMetrics.WriteMetrics(w)
	f.policy.conditionMetrics.WriteMetrics(w)
	f.serverControllers.workqueueMetrics.WriteMetrics(w)
	f.storage.state.encryption.metrics.WriteMetrics(w)
	if f.flowControl != nil {
		f.flowControl.WriteMetrics(w)
	}
	if f.faults != nil {
		f.faults.WriteMetrics(w)
	}
}

// BackupPath is the URL path of a backup of the running daemon. Requests to it are authorized like
// all others. For example, members of system:masters are allowed.
const BackupPath = "/backup"
