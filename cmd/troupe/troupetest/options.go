package troupetest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// An Option configures Start.
type Option func(*settings)

type settings struct {
	config daemon.Config
	now    func() time.Time
	files  []string
	name   string // server name in logs
	faults []Fault
	seed   uint64 // seed of faults
}

// Naming profiles for WithNaming.
const (
	Kubernetes = "kubernetes" // names of Kubernetes
	Platform   = "platform"   // vendor-neutral names
)

// serviceAccountPlugin assigns service accounts to Pods. It rejects Pods in a namespace without a
// default service account, which serviceAccountController would create.
const serviceAccountPlugin, serviceAccountController = "ServiceAccount", "serviceaccount-controller"

func newSettings(options []Option) *settings {
	c := daemon.Default()
	c.Ephemeral, c.Naming, c.Serving.SecurePort, c.Controllers = true, Kubernetes, 0, daemon.TestControllers
	return settings{config: c, now: time.Now, seed: rand.Uint64()}.with(options)
}

// with returns a copy without files, changed by options.
func (s settings) with(options []Option) *settings {
	s.files = nil
	s.config.API.FeatureGates, s.config.API.RuntimeConfig = maps.Clone(s.config.API.FeatureGates), maps.Clone(s.config.API.RuntimeConfig)
	for _, o := range options {
		o(&s)
	}
	return &s
}

// daemonConfig returns the configuration. If serviceAccountController does not run,
// serviceAccountPlugin is disabled, unless an option enables it.
func (s *settings) daemonConfig() daemon.Config {
	c := s.config
	if !c.Controllers.Runs(serviceAccountController, c.Naming) && len(c.Admission.Control) == 0 && !slices.Contains(c.Admission.Enable, serviceAccountPlugin) {
		c.Admission.Disable = append(slices.Clone(c.Admission.Disable), serviceAccountPlugin)
	}
	return c
}

// WithNaming sets the naming profile, Kubernetes (the default) or Platform.
func WithNaming(profile string) Option {
	return func(s *settings) { s.config.Naming = profile }
}

// WithFiles loads objects before Start returns, like Server.Load.
func WithFiles(paths ...string) Option {
	return func(s *settings) { s.files = append(s.files, paths...) }
}

// WithClock sets the clock for timestamps in objects and for tokens. now must be safe for
// concurrent use. Certificates, watches, controllers and timeouts still use the system clock, so
// advancing the clock fires no timers.
func WithClock(now func() time.Time) Option {
	return func(s *settings) { s.now = now }
}

// WithControllers enables controllers or, with a leading -, disables them. The default is the
// controllers of a bare API server (apiserver), garbage collection, namespace deletion and volume
// protection. Names are those of the --controllers flag. "*" selects the daemon's default
// controllers.
//
//	troupetest.WithControllers("serviceaccount-controller", "workloads", "-garbage-collector-controller")
func WithControllers(names ...string) Option {
	return func(s *settings) { s.config.Controllers = s.config.Controllers.With(names...) }
}

// WithConfig changes any daemon setting. change receives the result of earlier options.
func WithConfig(change func(*daemon.Config)) Option {
	return func(s *settings) { change(&s.config) }
}

// WithBackup starts the server with the objects and the naming profile of a backup or a data
// directory, which may be in use. A goroutine of the library that reads them,
// buntdb.(*DB).backgroundManager, ends up to a second later.
func WithBackup(path string) Option {
	return WithConfig(func(c *daemon.Config) { c.From = path })
}
