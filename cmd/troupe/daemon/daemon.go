package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy/faultinjection"
)

// A Daemon is a server that stores its objects in its own data directory or in etcd. Several
// daemons may share one etcd. Create a Daemon with New, call Start, and then Wait or Stop.
type Daemon struct {
	*settings
	*components
	started  []component
	stopped  chan struct{}
	stopOnce sync.Once
	stopErr  error // the result of Stop; read after stopped is closed
}

// components are the parts of a Daemon in start order. Stop uses the reverse order. A component
// uses only components above it.
type components struct {
	fatal fatalErrors // of all components

	state             *stateLog          // the journal, or etcd
	identity          *identity          // certificates and keys, whose checksums or contents are in state
	storage           *storage           // the catalog of kinds and the object store
	aggregator        *aggregator        // extension API servers
	leadership        *leadership        // elects a leader among several daemons
	serverControllers *serverControllers // controllers that requests rely on
	endpoint          *endpoint          // the listener, and the objects that publish its address
	authentication    *authentication
	policy            *policies           // authorization, admission and audit
	controllers       *clusterControllers // controllers whose writes pass admission
	definitionFiles   *definitionFiles    // CustomResourceDefinitions of --crds
	tracing           *tracing            // of requests
	frontEnd          *frontEnd           // the HTTP server
	maintenance       *maintenance        // reloads files
}

// settings are the Config and the values that New derives from it. All components share them.
type settings struct {
	config    Config
	naming    *meta.Naming
	features  features.Set
	log       *slog.Logger
	now       func() time.Time // see SetClock
	startedAt time.Time
	origin    *origin                  // see Fork; nil otherwise, and after Start
	recorder  *actors.Recorder         // see Record
	faults    *faultinjection.Injector // nil if disabled
	listener  net.Listener             // inherited from the previous daemon, or nil
	memory    *memory

	skipWebhook func(clientConfig tree.Tree) bool // see SkipWebhooks; may be nil
}

// A component is a part of a Daemon. Only Start sets the component's fields, so components that
// start later can read them without a lock.
type component interface {
	// Start returns once other components can use this component.
	Start() error
	// Stop stops everything that Start started, even if Start failed. It returns when ctx ends.
	Stop(ctx context.Context) error
}

// New validates the settings and creates a Daemon that writes its log to logs, which may be nil.
// With a From setting, the daemon has the naming profile of that state. New leaves no files open,
// so a Daemon that is never started needs no Stop.
func New(c Config, logs io.Writer) (*Daemon, error) {
	if c.From != "" {
		stored, err := StoredNaming(c.From)
		if err != nil {
			return nil, fmt.Errorf("--from %s: %w", c.From, err)
		}
		c.Naming = cmp.Or(stored, c.Naming)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return create(c, logs)
}

func create(c Config, logs io.Writer) (*Daemon, error) {
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
	s := &settings{config: c, naming: naming, features: gates, log: c.Logging.New(logs), now: time.Now, memory: &memory{}}
	if c.Serving.FaultInjection {
		s.faults = faultinjection.NewInjector()
	}
	for _, names := range c.renamed {
		s.log.Warn("deprecated key in the configuration file", "key", names[0], "name", names[1])
	}
	for _, setting := range c.deprecated {
		s.log.Warn("deprecated setting", "name", setting[0], "instead", setting[1])
	}
	d := newDaemon(s)
	if c.From != "" {
		d.state.initial = copyOf(c.From)
	}
	return d, nil
}

func newDaemon(s *settings) *Daemon {
	s.startedAt = time.Now()
	all := &components{fatal: make(fatalErrors, 2)}
	b := func() base { return newBase(s, all) }
	all.state, all.identity, all.storage = &stateLog{base: b()}, &identity{base: b()}, &storage{base: b()}
	all.aggregator, all.leadership, all.serverControllers = &aggregator{base: b()}, &leadership{base: b()}, &serverControllers{base: b()}
	all.endpoint, all.authentication, all.policy = &endpoint{base: b()}, &authentication{base: b()}, &policies{base: b()}
	all.controllers, all.definitionFiles = &clusterControllers{base: b()}, &definitionFiles{base: b()}
	all.tracing, all.frontEnd, all.maintenance = &tracing{base: b()}, &frontEnd{base: b()}, &maintenance{b()}
	return &Daemon{settings: s, components: all, stopped: make(chan struct{})}
}

// Fork creates a Daemon that starts with a copy of d's data, CAs and token keys. Both must be
// ephemeral. d may be running or stopped. Later changes of one do not affect the other.
func (d *Daemon) Fork(c Config, logs io.Writer) (*Daemon, error) {
	if d.memory.certs == nil || !c.Ephemeral {
		return nil, errors.New("only an ephemeral server that has started can be forked, into an ephemeral server")
	}
	c.DataDir = d.config.DataDir
	if c.From != "" {
		c.From, c.Naming = "", d.config.Naming
	}
	if !reflect.DeepEqual(c, d.config) {
		if err := c.Validate(); err != nil {
			return nil, err
		}
	}
	fork, err := create(c, logs)
	if err != nil {
		return nil, err
	}
	return fork, d.state.journal.Freeze(func(files persist.Checkpoint) { d.copyTo(fork, files) })
}

// SetClock sets the clock for timestamps in objects and for service account tokens. Call it before
// Start. now must be safe for concurrent use. Certificates, watches, controllers and timeouts still
// use the system clock.
func (d *Daemon) SetClock(now func() time.Time) { d.now = now }

// SkipWebhooks disables calls of the admission webhooks for whose clientConfig skip returns true.
// Call it before Start. skip must be safe for concurrent use.
func (d *Daemon) SkipWebhooks(skip func(clientConfig tree.Tree) bool) { d.skipWebhook = skip }

// Record returns a Recorder of all changes of this daemon and its successors (see Restart). Call it
// before Start.
func (d *Daemon) Record() *actors.Recorder {
	d.recorder = &actors.Recorder{}
	return d.recorder
}

// Faults returns the fault injector, or nil without --fault-injection.
func (d *Daemon) Faults() *faultinjection.Injector { return d.faults }

// Start opens the data directory and begins to serve requests. If Start fails, it releases all
// resources.
func (d *Daemon) Start() error {
	// Compilation of the kinds takes much of the startup time, so it runs in the background. Start
	// d.state before d.identity, because d.state locks the data directory, which contains the
	// certificates.
	var compiling errgroup.Group
	compiling.Go(d.storage.compileKinds)
	err := errors.Join(d.startAll(d.state, d.identity), compiling.Wait())
	if err == nil {
		err = d.startAll(
			d.storage, d.aggregator, d.leadership, d.serverControllers, d.endpoint,
			d.authentication, d.policy, d.controllers, d.definitionFiles, d.tracing, d.frontEnd, d.maintenance,
		)
	}
	if err != nil {
		err = errors.Join(err, d.Stop(context.Background()))
	}
	d.origin = nil
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

// Stop makes readiness fail, waits for the shutdown delay, finishes requests in flight, ends
// watches and closes the journal. ctx limits the wait. No acknowledged write is lost if ctx ends
// early. Further calls wait for the first call and return its error.
func (d *Daemon) Stop(ctx context.Context) error {
	d.stopOnce.Do(func() {
		var errs []error
		for _, c := range slices.Backward(d.started) {
			errs = append(errs, c.Stop(ctx))
		}
		d.stopErr = errors.Join(errs...)
		close(d.stopped)
	})
	<-d.stopped
	return d.stopErr
}

// fatalErrors receives errors that stop the daemon. It has room for one error from each source, the
// store and the listener.
type fatalErrors chan error

// report sends err to Wait without blocking, because the calling goroutines of the store must still
// answer pending requests.
func (f fatalErrors) report(err error) {
	select {
	case f <- err:
	default:
	}
}

// Wait blocks until the daemon has stopped or a fatal error occurs. It returns nil after Stop, and
// otherwise the error. The components then remain open, and the process should exit.
func (d *Daemon) Wait() error {
	select {
	case err := <-d.fatal:
		return err
	case <-d.stopped:
		return nil
	}
}

// fatalGracePeriod is how long a failed daemon still accepts requests, so that clients on open
// connections get a response.
const fatalGracePeriod = 500 * time.Millisecond

// Reload rereads certificates and other watched files. Call it only after Start.
func (d *Daemon) Reload() { d.identity.reloader.Trigger() }

// Drain finishes the requests in flight after a fatal error. ctx limits the wait.
func (d *Daemon) Drain(ctx context.Context) {
	select {
	case <-time.After(fatalGracePeriod):
	case <-ctx.Done():
	}
	if err := d.frontEnd.server.Shutdown(ctx); err != nil {
		d.log.Warn("draining", "error", err)
	}
}
