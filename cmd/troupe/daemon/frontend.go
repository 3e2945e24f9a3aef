package daemon

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/meta"
)

// serve makes the HTTP server, with all that decides about requests, and lets it accept connections. An
// error of the listener ends the daemon: a process that only looks alive is not restarted.
func (d *Daemon) serve() error {
	options, err := d.serverOptions()
	if err != nil {
		return err
	}
	if d.httpServer, err = http.New(options); err != nil {
		return err
	}
	// Serve returns nil after Shutdown, so only a failure is fatal.
	go func() {
		if err := d.httpServer.Serve(); err != nil {
			d.fatal(fmt.Errorf("serving: %w", err))
		}
	}()
	return nil
}

// serverOptions returns the options of the HTTP server.
func (d *Daemon) serverOptions() (none http.Options, err error) {
	rules, err := d.newPolicies(d.identity)
	if err != nil {
		return none, err
	}
	d.auditor, d.authorizer = rules.audit, rules.authorizer
	if d.flowControl, err = d.newFlowControl(); err != nil {
		return none, err
	}
	secure, err := d.identity.tlsConfig()
	if err != nil {
		return none, err
	}
	acceptable, err := d.identity.acceptableClientCAs()
	if err != nil {
		return none, err
	}
	// All that can fail comes before the options are put together.
	s := d.config.Serving
	origins, err := parseOrigins(s.CORSAllowedOrigins)
	if err != nil {
		return none, err
	}
	extra, err := d.oidcDiscovery()
	if err != nil {
		return none, err
	}
	kubelets, err := d.kubeletOptions()
	if err != nil {
		return none, err
	}
	extra[BackupPath] = http.ExtraRoute{Write: d.backup}
	extra[CompactPath] = http.ExtraRoute{Do: d.compact}
	// Without the feature there is no function, and so no page that shows the flags.
	var flags func() map[string]string
	if d.features.Enabled(features.ComponentFlagz) {
		flags = d.config.flagValues
	}
	store := d.clientStore(rules)
	var catchUp func(context.Context) bool
	if d.etcd != nil {
		catchUp = store.CatchUp
	}
	return http.Options{
		Naming: d.naming, Catalog: d.kinds, Store: store, CatchUp: catchUp,
		Authenticator:  rules.authenticator,
		Authorizer:     rules.authorizer,
		AuthGeneration: rules.generation.Current,
		Audit:          rules.audit,
		Admission:      rules.admission,
		Servers:        d.servers,
		Listener:       d.listener, TLS: secure, ClientCAs: acceptable.Pool,
		StrictTransportSecurity: d.config.TLS.strictTransport(), AllowedOrigins: origins,
		ExternalAddress: strings.TrimPrefix(d.advertisedURL(), "https://"), Version: Version, GitVersion: d.config.GitVersion, Logger: d.log,
		MemoryMonitor: d.memoryGauge(),
		Limits:        s.limits(),
		FlowControl:   d.flowControl,
		WriteMetrics:  d.writeMetrics,
		Checks:        d.healthChecks(),
		ExtraRoutes:   extra,
		Operations:    d.newOperations(d.kinds, rules),
		Readers:       map[string]http.Reader{"/v1/componentstatuses": readComponents(d.components())},
		Members:       d.objects, Kubelets: kubelets,
		Console: d.consoleOptions(), Profiling: s.Profiling, StatusPage: d.features.Enabled(features.ComponentStatusz), Flags: flags,

		CBOR:                d.features.Enabled(features.CBORServingAndStorage),
		DisableCompression:  !d.features.Enabled(features.APIResponseCompression),
		DisableListChunking: !d.features.Enabled(features.APIListChunking),
		DisableWatchList:    !d.features.Enabled(features.WatchList),

		ShutdownDelay: time.Duration(s.ShutdownDelay),
	}, nil
}

// clientStore returns the store that requests of clients go through.
func (d *Daemon) clientStore(rules *policies) *actors.ClientStore {
	observed := map[meta.GroupResource]bool{}
	for _, r := range slices.Concat(followed(rules.admission), []meta.GroupResource{d.servers.Resource()}, d.flowControlResources()) {
		observed[d.objects.Storage(r)] = true
	}
	opts := actors.ClientStoreOptions{Definitions: d.definitions, Observers: d.objects, IsObserved: func(storage meta.GroupResource) bool {
		return observed[storage] || d.policyParams.Follows(storage)
	}}
	if d.etcd != nil {
		opts.Newest = func(ctx context.Context) (uint64, error) {
			revision, err := d.etcd.Current(ctx)
			return uint64(revision), err
		}
	}
	return actors.NewClientStore(d.store, opts)
}

// writeMetrics writes the metrics of all parts but the HTTP server, which has its own.
// Parts that may be missing write nothing then, so this need not know which are there.
func (d *Daemon) writeMetrics(w io.Writer) {
	d.writeProcess(w)
	d.writeFeatureGates(w)
	d.store.WriteMetrics(w)
	if d.etcd != nil {
		d.etcd.WriteMetrics(w)
	}
	d.memoryMonitor.writeMetrics(w)
	d.identity.reloader.WriteMetrics(w)
	d.podSecurity.WriteMetrics(w)
	d.webhookMetrics.WritePrometheus(w)
	d.conversionMetrics.WritePrometheus(w)
	d.policyMetrics.WriteMetrics(w)
	d.apiServiceMetrics.WriteMetrics(w)
	d.conditionMetrics.WriteMetrics(w)
	d.workqueueMetrics.WriteMetrics(w)
	d.encryption.metrics.WriteMetrics(w)
	d.writeFlowControl(w)
}

// BackupPath is where a running daemon gives out a backup of its state. It is authorized like any path;
// members of system:masters may read it.
const BackupPath = "/backup"

// backup writes a consistent state while writes go on; restoring it is a command of its own.
func (d *Daemon) backup(w io.Writer) error {
	if d.etcd != nil {
		_, err := backupEtcd(d.background.ctx, d.etcd, d.encryption.transformer, d.config.DataDir, w)
		return err
	}
	_, err := d.journal.Backup(w)
	return err
}
