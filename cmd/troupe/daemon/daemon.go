package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A Daemon is one server over one data directory, or one of several over a state in etcd. It is used in this order: New,
// Start, then Wait or Stop.
//
// New makes the components in the order of the fields, each with those above that it needs. Start starts
// them in that order, and Stop stops them in the reverse one.
type Daemon struct {
	*settings
	fatal fatalErrors

	state             *stateLog          // the journal, or etcd
	identity          *identity          // certificates and keys
	storage           *storage           // the kinds, and the store of their objects
	aggregator        *aggregator        // servers that extend the API
	leadership        *leadership        // of several daemons
	serverControllers *serverControllers // which requests rely on
	endpoint          *endpoint          // the port, and what names it
	authentication    *authentication
	policy            *policies           // authorization, admission and audit
	controllers       *clusterControllers // whose writes are admitted
	frontEnd          *frontEnd           // the HTTP server
	maintenance       *maintenance        // reads files again

	started  []component
	stopped  chan struct{}
	stopOnce sync.Once
	stopErr  error // of Stop; read after stopped is closed
}

// settings are the Config and what New makes of it, for all components.
type settings struct {
	config    Config
	naming    *meta.Naming
	features  features.Set
	log       *slog.Logger
	now       func() time.Time // of SetClock
	startedAt time.Time
}

// A component is a part of a Daemon. Its fields that Start sets are not changed afterwards, and are read without a lock
// by components that start later.
type component interface {
	// Start returns when later components can rely on this one.
	Start() error
	// Stop ends what Start began, also if Start failed. ctx limits the time for that.
	Stop(ctx context.Context) error
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
	s := &settings{config: c, naming: naming, features: gates, log: c.Logging.New(logs), now: time.Now, startedAt: time.Now()}
	for _, names := range c.renamed {
		s.log.Warn("a key of the configuration file has a new name", "key", names[0], "name", names[1])
	}
	d := &Daemon{settings: s, fatal: make(fatalErrors, 2), stopped: make(chan struct{})}
	d.state = &stateLog{base: newBase(s), fatal: d.fatal}
	d.identity = &identity{base: newBase(s), state: d.state}
	d.storage = &storage{base: newBase(s), fatal: d.fatal, state: d.state}
	d.aggregator = &aggregator{base: newBase(s), storage: d.storage, identity: d.identity}
	d.leadership = &leadership{base: newBase(s), storage: d.storage}
	d.serverControllers = &serverControllers{
		base: newBase(s), storage: d.storage, aggregator: d.aggregator, leadership: d.leadership,
	}
	d.endpoint = &endpoint{
		base: newBase(s), storage: d.storage, identity: d.identity, leadership: d.leadership,
	}
	d.authentication = &authentication{
		base: newBase(s), storage: d.storage, identity: d.identity, controllers: d.serverControllers,
	}
	d.policy = &policies{
		base: newBase(s), storage: d.storage, identity: d.identity, authentication: d.authentication,
	}
	d.controllers = &clusterControllers{
		base: newBase(s), storage: d.storage, identity: d.identity, aggregator: d.aggregator,
		leadership: d.leadership, server: d.serverControllers, policy: d.policy,
	}
	d.frontEnd = &frontEnd{
		base: newBase(s), fatal: d.fatal, storage: d.storage, identity: d.identity, aggregator: d.aggregator,
		controllers: d.serverControllers, endpoint: d.endpoint, authentication: d.authentication, policy: d.policy,
	}
	d.maintenance = &maintenance{base: newBase(s), state: d.state, identity: d.identity}
	return d, nil
}

// SetClock makes now the clock of the times that objects get and of the tokens that are issued and verified. It is called
// before Start, and from any number of goroutines after it. Certificates keep the clock of the machine, as clients do that verify them,
// and so does all that waits for a while: watches, controllers, timeouts.
func (d *Daemon) SetClock(now func() time.Time) { d.now = now }

// Start opens the data directory and begins to serve. When it returns without an error,
// requests are answered; when it returns one, nothing is left open.
func (d *Daemon) Start() error {
	// The kinds are compiled, which takes a good part of a start, while the log opens and the certificates are read. Until
	// the log is open, the directory of the certificates may be another process's.
	var compiling errgroup.Group
	compiling.Go(d.storage.compileKinds)
	err := errors.Join(d.startAll(d.state, d.identity), compiling.Wait())
	if err == nil {
		err = d.startAll(
			d.storage, d.aggregator, d.leadership, d.serverControllers, d.endpoint,
			d.authentication, d.policy, d.controllers, d.frontEnd, d.maintenance,
		)
	}
	if err != nil {
		err = errors.Join(err, d.Stop(context.Background()))
	}
	return err
}

func (d *Daemon) startAll(all ...component) error {
	for _, c := range all {
		d.started = append(d.started, c)
		if err := c.Start(); err != nil {
			return err
		}
	}
	return nil
}

// Stop drains: readiness fails, the shutdown delay passes, requests in flight finish,
// watches end, the store answers what waits, the journal closes. ctx bounds the time for
// that; whatever it cuts short, no acknowledged write is lost. It may be called twice.
func (d *Daemon) Stop(ctx context.Context) error {
	d.stopOnce.Do(func() {
		var errs []error
		for _, c := range slices.Backward(d.started) {
			errs = append(errs, c.Stop(ctx))
		}
		d.stopErr = errors.Join(errs...)
		close(d.stopped)
	})
	// A second caller waits here for the first, and gets the same error.
	<-d.stopped
	return d.stopErr
}

// fatalErrors receives why the daemon cannot go on. It has room for both causes, the store and the listener.
type fatalErrors chan error

// report never blocks: it is called from the store's own goroutines, which must go on to answer who waits.
func (f fatalErrors) report(err error) {
	select {
	case f <- err:
	default:
	}
}

// Wait returns when the daemon has ended: nil after Stop, else why it could not go on.
// In the second case its parts are still open, and only the end of the process is safe.
func (d *Daemon) Wait() error {
	select {
	case err := <-d.fatal:
		return err
	case <-d.stopped:
		return nil
	}
}

// fatalGracePeriod is how long a daemon that cannot go on still takes requests, so that clients that
// have sent one, or are about to on an open connection, get an answer.
const fatalGracePeriod = 500 * time.Millisecond

// Reload reads the certificates and the other files that may change while the daemon runs at once, not only after
// --tls-reload-period. It may be called after Start only.
func (d *Daemon) Reload() { d.identity.reloader.Trigger() }

// Drain lets the requests that are in flight have their answers when the daemon cannot go on.
// ctx bounds the time for that.
func (d *Daemon) Drain(ctx context.Context) {
	select {
	// Requests are still taken meanwhile.
	case <-time.After(fatalGracePeriod):
	case <-ctx.Done():
	}
	if err := d.frontEnd.server.Shutdown(ctx); err != nil {
		d.log.Warn("draining", "error", err)
	}
}
