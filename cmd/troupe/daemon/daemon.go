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
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy/audit"
)

// A Daemon is one server over one data directory. It is used in this order: New, Start,
// Wait or Stop.
type Daemon struct {
	config Config
	naming *meta.Naming
	log    *slog.Logger
	began  time.Time
	// What goes on beside requests: the work of policies, the built-in controllers, and the look
	// at certificates.
	background, controllers, keeping *background

	// Set by Start, in this order, and closed by Stop in the reverse one.
	journal *persist.Journal
	store   *actors.Store
	// services hands out what Services share. It is part of the store.
	services *allocation.Services
	objects  *objects // the store, as policies see it
	accounts *accounts
	// definitions keeps the kinds that objects define; nil before the store is open.
	definitions *controllers.Definitions
	listener    net.Listener
	auditor     *audit.Auditor // nil if nothing is audited
	front       *http.Server

	end   chan error // receives why the daemon ended by itself; has room for both causes
	ended chan struct{}
	once  sync.Once
	fault error // of Stop; read after ended is closed
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
		config: c, naming: naming, log: newLogger(logs, c.Logging), began: time.Now(),
		background: newBackground(), controllers: newBackground(), keeping: newBackground(),
		end: make(chan error, 2), ended: make(chan struct{}),
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
	compiled := begin(func() (*catalog.Catalog, error) {
		return catalog.Configured(d.naming, catalog.RuntimeConfig(d.config.API.RuntimeConfig))
	})
	if err := d.lock(); err != nil {
		return err
	}
	identified := begin(func() (*identity, error) { return newIdentity(d.config, d.naming, d.log) })
	kinds, err := compiled.wait()
	if err == nil {
		err = d.open(kinds)
	}
	if err == nil {
		d.establish(kinds)
	}
	id, fault := identified.wait()
	if err = errors.Join(err, fault); err != nil {
		return err
	}
	if d.accounts, err = d.newAccounts(id.trust); err != nil {
		return fmt.Errorf("keys of service accounts: %w", err)
	}
	d.control(kinds)
	if err := d.listen(); err != nil {
		return err
	}
	admin := &clientConfiguration{path: d.Kubeconfig(), url: d.URL(), id: id}
	if _, err := admin.Refresh(); err != nil {
		return err
	}
	id.keeper.Keep("kubeconfig", admin.Refresh)
	d.announce(kinds)
	if err := d.serve(kinds, id); err != nil {
		return err
	}
	d.config.TLS.warn(d.log)
	d.keeping.run(id.keep)
	return nil
}

// lock opens the journal, which locks the directory, and makes sure that the directory is of
// this naming profile.
func (d *Daemon) lock() (err error) {
	d.journal, err = persist.Open(d.config.DataDir, persist.Options{
		SegmentBytes: int64(d.config.Journal.SegmentBytes),
		Sync:         persist.SyncPolicy(d.config.Journal.Sync),
		Logger:       d.log,
	})
	if err != nil {
		return err
	}
	return claim(d.journal, d.config.DataDir, d.naming)
}

// open opens the store on the journal.
func (d *Daemon) open(kinds *catalog.Catalog) error {
	claims, err := d.claims()
	if err != nil {
		return err
	}
	d.store, err = actors.Open(actors.Options{
		Log: d.journal, Catalog: kinds, Naming: d.naming, Logger: d.log, Tuning: d.config.tuning(), Claims: claims, Fatal: d.fatal,
	})
	d.objects = newObjects(d.store, kinds, d.naming, d.log)
	return err
}

func (d *Daemon) listen() (err error) {
	address := net.JoinHostPort(d.config.Serving.BindAddress, strconv.Itoa(d.config.Serving.SecurePort))
	d.listener, err = net.Listen("tcp", address)
	return err
}

func (d *Daemon) serve(kinds *catalog.Catalog, id *identity) (err error) {
	s := d.config.Serving
	rules, err := d.policies(id)
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
	extra, err := d.discovery()
	if err != nil {
		return err
	}
	extra[BackupPath] = http.Extra{Write: d.backup}
	d.front, err = http.New(http.Options{
		Naming: d.naming, Catalog: kinds, Store: settledStore{d.store, d.objects, d.definitions},
		Authenticator: rules.authenticator,
		Authorizer:    rules.authorizer,
		Audit:         rules.audit,
		Admission:     rules.admission,
		Listener:      d.listener, TLS: secure,
		StrictTransport: d.config.TLS.strictTransport(), Origins: origins,
		Version: Version, Logger: d.log,
		Limits: s.limits(),
		WriteMetrics: func(w io.Writer) {
			d.writeProcess(w)
			d.store.WriteMetrics(w)
			id.keeper.WriteMetrics(w)
		},
		Checks:        []http.Check{{Name: "store", Check: d.store.Healthy}},
		Extra:         extra,
		Operations:    d.operations(kinds, rules),
		Profiling:     s.Profiling,
		ShutdownDelay: time.Duration(s.ShutdownDelay),
	})
	if err != nil {
		return err
	}
	go func() {
		if err := d.front.Serve(); err != nil {
			d.fatal(fmt.Errorf("serving: %w", err))
		}
	}()
	return nil
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
	case d.end <- err:
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
		d.URL(), d.naming.Profile, d.Kubeconfig(), time.Since(d.began).Milliseconds())
}

// Wait returns when the daemon has ended: nil after Stop, else why it could not go on.
// In the second case its parts are still open, and only the end of the process is safe.
func (d *Daemon) Wait() error {
	select {
	case err := <-d.end:
		return err
	case <-d.ended:
		return nil
	}
}

// Stop drains: readiness fails, the shutdown delay passes, requests in flight finish,
// watches end, the store answers what waits, the journal closes. ctx bounds the time for
// that; whatever it cuts short, no acknowledged write is lost. It may be called twice.
func (d *Daemon) Stop(ctx context.Context) error {
	d.once.Do(func() {
		d.fault = d.stop(ctx)
		close(d.ended)
	})
	<-d.ended
	return d.fault
}

func (d *Daemon) stop(ctx context.Context) error {
	var errs []error
	d.keeping.stop()
	if d.front != nil {
		errs = append(errs, d.front.Shutdown(ctx))
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
		errs = append(errs, d.journal.Close())
	}
	return errors.Join(errs...)
}
