package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/policyobjects"
	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/audit"
)

// A Daemon is one server over one data directory. It is used in this order: New, Start,
// Wait or Stop.
type Daemon struct {
	config    Config
	naming    *meta.Naming
	log       *slog.Logger
	startedAt time.Time
	// What goes on beside requests: the work of policies, the built-in controllers, and the look
	// at certificates.
	background, controllers, maintenance *background

	// Set by Start, in this order, and closed by Stop in the reverse one.
	journal *persist.Journal
	store   *actors.Store
	// services hands out what Services share. It is part of the store.
	services             *allocation.ServiceAllocator
	objects              *policyobjects.Reader // the store, as policies see it
	serviceAccountTokens *serviceAccountTokens
	policyGeneration     *policy.Generation // what policies decide by
	// definitions keeps the kinds that objects define; nil before the store is open.
	definitions   *controllers.Definitions
	memoryMonitor *memoryMonitor // nil if the process has no limit
	listener      net.Listener
	auditor       *audit.Auditor // nil if nothing is audited
	httpServer    *http.Server

	fatalErrs chan error // receives why the daemon ended by itself; has room for both causes
	stopped   chan struct{}
	stopOnce  sync.Once
	stopErr   error // of Stop; read after ended is closed
}

// New checks the settings; logs, if any, receives the log, which else goes nowhere.
func New(c Config, logs io.Writer) (*Daemon, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	naming, err := meta.ParseNaming(c.Naming)
	if err != nil {
		return nil, err
	}
	if c.DataDir, err = filepath.Abs(c.DataDir); err != nil {
		return nil, err
	}
	if logs == nil {
		logs = io.Discard
	}
	return &Daemon{
		config: c, naming: naming, log: newLogger(logs, c.Logging), startedAt: time.Now(),
		background: newBackground(), controllers: newBackground(), maintenance: newBackground(),
		fatalErrs: make(chan error, 2), stopped: make(chan struct{}),
	}, nil
}

// Start opens the data directory and begins to serve. When it returns without an error,
// requests are answered; when it returns one, nothing is left open.
func (d *Daemon) Start() error {
	err := d.start()
	if err != nil {
		err = errors.Join(err, d.Stop(context.Background()))
	}
	return err
}

func (d *Daemon) start() error {
	if err := os.MkdirAll(d.config.DataDir, 0o700); err != nil {
		return err
	}
	compiled := startFuture(func() (*catalog.Catalog, error) {
		return catalog.NewWithConfig(d.naming, catalog.RuntimeConfig(d.config.API.RuntimeConfig))
	})
	if err := d.lock(); err != nil {
		return err
	}
	identified := startFuture(func() (*identity, error) { return newIdentity(d.config, d.naming, d.log) })
	kinds, err := compiled.wait()
	if err == nil {
		err = d.open(kinds)
	}
	if err == nil {
		d.reconcileDefaultRoles(kinds)
	}
	id, fault := identified.wait()
	if err = errors.Join(err, fault); err != nil {
		return err
	}
	if d.serviceAccountTokens, err = d.newServiceAccountTokens(id); err != nil {
		return fmt.Errorf("keys of service accounts: %w", err)
	}
	d.startControllers(kinds)
	if err := d.listen(); err != nil {
		return err
	}
	admin := &adminKubeconfig{path: d.Kubeconfig(), url: d.URL(), id: id}
	if _, err := admin.Refresh(); errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		d.log.Warn("the administrator's client configuration cannot be written", "file", d.Kubeconfig(), "error", err)
	} else if err != nil {
		return err
	}
	id.reloader.Add("kubeconfig", admin.Refresh)
	d.ensureAPIService(kinds)
	if err := d.serve(kinds, id); err != nil {
		return err
	}
	d.config.TLS.warn(d.log)
	d.maintenance.run(id.runReloader)
	return nil
}

// lock opens the journal, which locks the directory, and makes sure that the directory is of
// this naming profile.
func (d *Daemon) lock() (err error) {
	d.journal, err = persist.Open(d.config.DataDir, persist.Options{
		SegmentBytes:   int64(d.config.Journal.SegmentBytes),
		Sync:           persist.SyncPolicy(d.config.Journal.Sync),
		AcceptDataLoss: d.config.AcceptDataLoss,
		Logger:         d.log,
	})
	if err != nil {
		return withAdvice(err)
	}
	return checkNaming(d.journal, d.config.DataDir, d.naming)
}

// open opens the store on the journal.
func (d *Daemon) open(kinds *catalog.Catalog) error {
	claims, err := d.newAllocators()
	if err != nil {
		return err
	}
	tuning := d.config.tuning()
	fitTuning(&tuning)
	d.store, err = actors.Open(actors.Options{
		Log: d.journal, Catalog: kinds, Naming: d.naming, Logger: d.log, Tuning: tuning, Allocators: claims, Fatal: d.fatal,
	})
	d.objects = policyobjects.NewReader(d.store, kinds, d.log)
	if err != nil {
		return withAdvice(err)
	}
	if d.memoryMonitor = d.newMemoryMonitor(tuning.HistoryBytes); d.memoryMonitor != nil {
		d.maintenance.run(d.memoryMonitor.run)
	}
	return nil
}

func (d *Daemon) listen() (err error) {
	address := net.JoinHostPort(d.config.Serving.BindAddress, strconv.Itoa(d.config.Serving.SecurePort))
	if d.listener, err = net.Listen("tcp", address); err != nil {
		return fmt.Errorf("%w\nchoose another address with --bind-address or another port with --secure-port; 0 is any that is free", err)
	}
	return nil
}

func (d *Daemon) serve(kinds *catalog.Catalog, id *identity) (err error) {
	s := d.config.Serving
	rules, err := d.newPolicies(id)
	if err != nil {
		return err
	}
	d.auditor = rules.audit
	secure, err := id.tlsConfig()
	if err != nil {
		return err
	}
	origins, err := parseOrigins(s.CORSAllowedOrigins)
	if err != nil {
		return err
	}
	extra, err := d.oidcDiscovery()
	if err != nil {
		return err
	}
	extra[BackupPath] = http.ExtraRoute{Write: d.backup}
	d.httpServer, err = http.New(http.Options{
		Naming: d.naming, Catalog: kinds, Store: policyobjects.NewBarrierStore(d.objects, d.definitions),
		Authenticator:  rules.authenticator,
		Authorizer:     rules.authorizer,
		AuthGeneration: rules.generation.Current,
		Audit:          rules.audit,
		Admission:      rules.admission,
		Listener:       d.listener, TLS: secure,
		StrictTransportSecurity: d.config.TLS.strictTransport(), AllowedOrigins: origins,
		ExternalAddress: strings.TrimPrefix(d.advertisedURL(), "https://"), Version: Version, Logger: d.log,
		MemoryMonitor: d.memoryGauge(),
		Limits:        s.limits(),
		WriteMetrics: func(w io.Writer) {
			d.writeProcess(w)
			d.store.WriteMetrics(w)
			d.memoryMonitor.writeMetrics(w)
			id.reloader.WriteMetrics(w)
		},
		Checks: []http.Check{
			{Name: "store", Check: d.store.Healthy}, unreadable(d.store),
			{Name: "disk", Check: d.journal.Healthy, Remark: d.diskRemark},
		},
		ExtraRoutes:   extra,
		Operations:    d.newOperations(kinds, rules),
		Profiling:     s.Profiling,
		ShutdownDelay: time.Duration(s.ShutdownDelay),
	})
	if err != nil {
		return err
	}
	go func() {
		if err := d.httpServer.Serve(); err != nil {
			d.fatal(fmt.Errorf("serving: %w", err))
		}
	}()
	return nil
}

// diskRemark is what /readyz?verbose says of a disk that answers.
func (d *Daemon) diskRemark() string {
	if d.journal.Stats().Full {
		return ": it is full, and only deletes are accepted"
	}
	return ""
}

// BackupPath is where a running daemon gives out a backup of its state.
const BackupPath = "/backup"

func (d *Daemon) backup(w io.Writer) error {
	_, err := d.journal.Backup(w)
	return err
}

// fatal ends the daemon by itself. The first cause counts.
func (d *Daemon) fatal(err error) {
	select {
	case d.fatalErrs <- err:
	default:
	}
}

// Addr is the address that the daemon listens on.
func (d *Daemon) Addr() net.Addr { return d.listener.Addr() }

// URL is the address for clients on this machine, as in "https://127.0.0.1:6443".
func (d *Daemon) URL() string {
	host, port, _ := net.SplitHostPort(d.Addr().String())
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "https://" + net.JoinHostPort(host, port)
}

// Kubeconfig is the path of the administrator's client configuration.
func (d *Daemon) Kubeconfig() string { return filepath.Join(d.config.DataDir, "admin.kubeconfig") }

// Ready is the line that says that requests are answered, and where.
func (d *Daemon) Ready() string {
	return fmt.Sprintf("troupe ready: %s (naming %s), KUBECONFIG=%s in %d ms",
		d.URL(), d.naming.Profile, d.Kubeconfig(), time.Since(d.startedAt).Milliseconds())
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

// fatalGracePeriod is how long a daemon that cannot go on still takes requests: whoever has sent one, or
// is about to on a connection that is open, is told.
const fatalGracePeriod = 500 * time.Millisecond

// Drain lets the requests that are in flight have their answers when the daemon cannot go on.
// ctx bounds the time for that.
func (d *Daemon) Drain(ctx context.Context) {
	select {
	case <-time.After(fatalGracePeriod):
	case <-ctx.Done():
	}
	if err := d.httpServer.Shutdown(ctx); err != nil {
		d.log.Warn("draining", "error", err)
	}
}

// Stop drains: readiness fails, the shutdown delay passes, requests in flight finish,
// watches end, the store answers what waits, the journal closes. ctx bounds the time for
// that; whatever it cuts short, no acknowledged write is lost. It may be called twice.
func (d *Daemon) Stop(ctx context.Context) error {
	d.stopOnce.Do(func() {
		d.stopErr = d.stop(ctx)
		close(d.stopped)
	})
	<-d.stopped
	return d.stopErr
}

func (d *Daemon) stop(ctx context.Context) error {
	var errs []error
	d.maintenance.stop()
	if d.httpServer != nil {
		errs = append(errs, d.httpServer.Shutdown(ctx))
	} else if d.listener != nil {
		errs = append(errs, d.listener.Close())
	}
	d.background.stop()
	if d.auditor != nil {
		errs = append(errs, d.auditor.Close(ctx))
	}
	d.controllers.stop()
	if d.store != nil {
		errs = append(errs, d.store.Close(ctx))
	}
	if d.journal != nil {
		errs = append(errs, d.closeJournal(ctx))
	}
	return errors.Join(errs...)
}

// closeJournal does not wait for a disk that does not answer longer than ctx allows.
func (d *Daemon) closeJournal(ctx context.Context) error {
	closed := make(chan error, 1)
	go func() { closed <- d.journal.Close() }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-closed:
		return err
	case <-time.After(time.Second):
		return fmt.Errorf("closing the journal: %w", ctx.Err())
	}
}
