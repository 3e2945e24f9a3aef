package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/actors/controllers/endpoints"
	"github.com/troupe-api/troupe/actors/controllers/policyobjects"
	"github.com/troupe-api/troupe/actors/controllers/workloads"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/http/aggregation"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/admissionpolicy"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
	"github.com/troupe-api/troupe/policy/admission/quota"
	"github.com/troupe-api/troupe/policy/admission/webhook"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authn/oidc"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/conversion"
	"github.com/troupe-api/troupe/policy/flowcontrol"
)

// A Daemon is one server over one data directory, or one of several over what etcd keeps. It is used in this order: New, Start, then Wait or Stop.
// Fields that Start sets are not changed afterwards and are read without a lock, but not before Start has
// returned.
type Daemon struct {
	config    Config
	naming    *meta.Naming
	features  features.Set
	log       *slog.Logger
	now       func() time.Time // of SetClock
	startedAt time.Time
	// What runs beside requests: what authentication and authorization need, the built-in
	// controllers, and the watch over certificates and memory.
	background, controllers, maintenance *background

	// Set by Start, in this order, and closed by Stop in the reverse one.
	kinds                *catalog.Catalog
	encryption           *atRest          // of what the journal stores
	journal              *persist.Journal // nil if the state is in etcd,
	etcd                 *etcd.Log        // and this one if it is in the data directory
	identity             *identity
	endpointBackends     *endpoints.Backends          // of Services, for their controllers
	services             *allocation.ServiceAllocator // gives Services their addresses and ports, for the store
	quotas               *quota.Ledger                // counts what namespaces use, for the store
	store                *actors.Store
	objects              *policyobjects.Reader // the store, as policy sees it
	servers              *aggregation.Servers  // that extend the API
	apiServiceMetrics    *controllers.APIServiceMetrics
	workqueueMetrics     *controllers.WorkqueueMetrics
	election             *controllers.Election // which of several daemons leads; nil if there is one only
	leader               *controllers.Leader   // of controllers beside the daemon; nil if none of its own would stand back
	trust                trustFollowers
	memoryMonitor        *memoryMonitor // nil if the process has no memory limit
	serviceAccountTokens *serviceAccountTokens
	signingAuthorities   certificates.Authorities
	definitions          *controllers.Definitions // makes kinds of the objects that define them
	legacyTokens         *controllers.LegacyTokenTracking
	listener             net.Listener
	policyGeneration     *policy.Generation  // of all that authentication and authorization decide by
	identityTokens       *oidc.Authenticator // nil if no provider of them is given
	authorizer           authz.Authorizer
	auditor              *audit.Auditor          // nil if nothing is audited
	flowControl          *flowcontrol.Controller // nil if it is switched off
	podSecurity          *podsecurity.Admission
	webhookMetrics       *webhook.Metrics // of admission
	conversionWebhooks   *conversion.Webhooks
	conversionMetrics    *conversion.Metrics
	policyParams         *admissionpolicy.Params
	policyMetrics        *admissionpolicy.Metrics
	conditionMetrics     match.ConditionMetrics // of webhooks and policies
	httpServer           *http.Server
	admission            *admission.Chain
	workloads            *workloads.Group // nil unless a controller of it runs

	fatalErrs chan error // receives why the daemon cannot go on; has room for both causes
	stopped   chan struct{}
	stopOnce  sync.Once
	stopErr   error // of Stop; read after stopped is closed
}

// New checks the settings; logs, if any, receives the log, which else goes nowhere. Nothing is opened yet,
// so a Daemon that is never started needs no Stop.
func New(c Config, logs io.Writer) (*Daemon, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	gates, err := features.New(c.API.FeatureGates)
	if err != nil {
		return nil, err
	}
	naming, err := meta.ParseNaming(c.Naming)
	if err != nil {
		return nil, err
	}
	for _, path := range []*string{&c.DataDir, &c.Kubeconfig} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, err
		}
	}
	if logs == nil {
		logs = io.Discard
	}
	return &Daemon{
		config: c, naming: naming, features: gates, log: c.Logging.New(logs), now: time.Now, startedAt: time.Now(),
		background: newBackground(), controllers: newBackground(), maintenance: newBackground(),
		workqueueMetrics: controllers.NewWorkqueueMetrics(), trust: trustFollowers{map[string]*atomic.Pointer[func()]{}}, fatalErrs: make(chan error, 2), stopped: make(chan struct{}),
	}, nil
}

// SetClock makes now the clock of the times that objects get and of the tokens that are issued and verified. It is called
// before Start, and from any number of goroutines after it. Certificates keep the clock of the machine, as clients do that verify them,
// and so does all that waits for a while: watches, controllers, timeouts.
func (d *Daemon) SetClock(now func() time.Time) { d.now = now }

// Start opens the data directory and begins to serve. When it returns without an error,
// requests are answered; when it returns one, nothing is left open.
func (d *Daemon) Start() error {
	err := d.start()
	if err != nil {
		err = errors.Join(err, d.Stop(context.Background()))
	}
	return err
}

// start takes its steps in the order in which they need each other. The port is open before the policies
// are made; connections wait in its queue until requests are served. The reloader runs last, since nothing
// may be added to it once it runs.
func (d *Daemon) start() error {
	for _, step := range []func() error{
		d.openDataDir,
		d.loadServiceAccountKeys,
		d.followServers,
		d.loadSigningAuthorities,
		d.startOwnControllers,
		d.listen,
		d.keepAdminKubeconfig,
		d.ensureAPIService,
		d.serve,
		d.startControllers,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	d.config.TLS.warn(d.log)
	d.warnOfFeatureGates()
	d.maintenance.run(d.identity.runReloader)
	d.encryption.run(d.maintenance)
	return nil
}

// The port is taken before the kubeconfig names it, and before anything is written into the cluster about
// it.
func (d *Daemon) listen() (err error) {
	address := net.JoinHostPort(d.config.Serving.BindAddress, strconv.Itoa(d.config.Serving.SecurePort))
	if d.listener, err = net.Listen("tcp", address); err != nil {
		return fmt.Errorf("%w\nchoose another address with --bind-address or another port with --secure-port; 0 is any that is free", err)
	}
	return nil
}

// Stop drains: readiness fails, the shutdown delay passes, requests in flight finish,
// watches end, the store answers what waits, the journal closes. ctx bounds the time for
// that; whatever it cuts short, no acknowledged write is lost. It may be called twice.
func (d *Daemon) Stop(ctx context.Context) error {
	d.stopOnce.Do(func() {
		d.stopErr = d.stop(ctx)
		close(d.stopped)
	})
	// A second caller waits here for the first, and gets the same error.
	<-d.stopped
	return d.stopErr
}

// Parts that a failed start has not made are left out. An error of one part does not keep the others from
// being closed.
// The order is the reverse of the start: who asks is stopped before who answers.
func (d *Daemon) stop(ctx context.Context) error {
	var errs []error
	d.maintenance.stop()
	d.limitConversions()
	if d.httpServer != nil {
		errs = append(errs, d.httpServer.Shutdown(ctx))
	} else if d.listener != nil {
		errs = append(errs, d.listener.Close())
	}
	// No request is in flight any more, unless ctx has cut them short, so nothing needs what authentication and
	// authorization follow.
	d.background.stop()
	if d.auditor != nil {
		errs = append(errs, d.auditor.Close(ctx))
	}
	// Controllers write into the store, and the store into the journal: each ends before what it writes into.
	d.controllers.stop()
	if d.store != nil {
		errs = append(errs, d.store.Close(ctx))
	}
	if d.journal != nil {
		errs = append(errs, closeWithin(ctx, "the journal", d.journal.Close))
	}
	if d.etcd != nil {
		errs = append(errs, closeWithin(ctx, "the connection to etcd", d.etcd.Close))
	}
	errs = append(errs, d.removeEphemeralKubeconfig())
	return errors.Join(errs...)
}

// fatal ends the daemon by itself. The first cause counts. It never blocks: it is called from the store's
// own goroutines, which must go on to answer who waits.
func (d *Daemon) fatal(err error) {
	select {
	case d.fatalErrs <- err:
	default:
	}
}

// Wait returns when the daemon has ended: nil after Stop, else why it could not go on.
// In the second case its parts are still open, and only the end of the process is safe.
func (d *Daemon) Wait() error {
	select {
	case err := <-d.fatalErrs:
		return err
	case <-d.stopped:
		return nil
	}
}

// fatalGracePeriod is how long a daemon that cannot go on still takes requests, so that clients that
// have sent one, or are about to on an open connection, get an answer.
const fatalGracePeriod = 500 * time.Millisecond

// Reload reads the certificates and the other files that may change while the daemon runs at once, not only after
// tls.reloadPeriod. It may be called after Start only.
func (d *Daemon) Reload() { d.identity.reloader.Trigger() }

// Drain lets the requests that are in flight have their answers when the daemon cannot go on.
// ctx bounds the time for that.
func (d *Daemon) Drain(ctx context.Context) {
	select {
	// Requests are still taken meanwhile.
	case <-time.After(fatalGracePeriod):
	case <-ctx.Done():
	}
	if err := d.httpServer.Shutdown(ctx); err != nil {
		d.log.Warn("draining", "error", err)
	}
}
