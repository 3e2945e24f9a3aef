package troupetest

import (
	"slices"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// An Option changes the server that Start makes.
type Option func(*settings)

// settings are what options change.
type settings struct {
	config daemon.Config
	now    func() time.Time
	files  []string
	name   string // of the server, in logs
}

// The naming profiles of WithNaming.
const (
	Kubernetes = "kubernetes" // the names that existing clients know
	Platform   = "platform"   // the neutral names
)

// serviceAccountPlugin is the admission plugin that gives Pods a service account, and refuses those whose namespace has none.
const serviceAccountPlugin, serviceAccountController = "ServiceAccount", "serviceaccount-controller"

// newSettings are the defaults, changed by the options in their order. The plugin follows the controller that makes what it
// demands, unless an option has said otherwise of it.
func newSettings(options []Option) *settings {
	c := daemon.Default()
	c.Ephemeral, c.Naming, c.Serving.SecurePort, c.Controllers = true, Kubernetes, 0, daemon.TestControllers
	s := &settings{config: c, now: time.Now}
	for _, o := range options {
		o(s)
	}
	a := &s.config.Admission
	if !s.config.Controllers.Runs(serviceAccountController, s.config.Naming) && len(a.Control) == 0 && !slices.Contains(a.Enable, serviceAccountPlugin) {
		a.Disable = append(slices.Clone(a.Disable), serviceAccountPlugin)
	}
	return s
}

// WithNaming sets the naming profile: Kubernetes, which is the default, or Platform.
func WithNaming(profile string) Option {
	return func(s *settings) { s.config.Naming = profile }
}

// WithFiles loads definitions and objects before Start returns, as Server.Load does.
func WithFiles(paths ...string) Option {
	return func(s *settings) { s.files = append(s.files, paths...) }
}

// WithClock sets the clock of the times that are written into objects, such as creationTimestamp, and by which tokens are issued and
// verified. now is called from many goroutines. Certificates keep the clock of the machine, and so does whatever waits, such as
// watches, controllers and timeouts: moving the clock makes nothing happen earlier.
func WithClock(now func() time.Time) Option {
	return func(s *settings) { s.now = now }
}

// WithControllers switches built-in controllers on or, with a - in front of the name, off, beside those that run by default:
// garbage-collector-controller, namespace-controller, the two that let protected volumes and claims go, and those that a bare API server runs
// itself (apiserver). The names are those of the daemon's flag --controllers, as in
//
//	troupetest.WithControllers("serviceaccount-controller", "workloads", "-garbage-collector-controller")
//
// and * stands for all that a daemon runs by itself.
func WithControllers(names ...string) Option {
	return func(s *settings) { s.config.Controllers = s.config.Controllers.With(names...) }
}

// WithConfig changes any other setting of the daemon. The function gets the settings as they are after the options before
// it.
func WithConfig(change func(*daemon.Config)) Option {
	return func(s *settings) { change(&s.config) }
}
