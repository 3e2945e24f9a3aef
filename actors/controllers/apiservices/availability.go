package apiservices

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Prober checks whether the server behind an APIService responds.
type Prober interface {
	// Probe checks the server behind an APIService with this spec, which refers to a Service. It
	// returns the zero Unavailability if the server is available. It takes at most a few seconds.
	Probe(ctx context.Context, spec tree.Tree) Unavailability
	// Notify calls onChange for each Service whose reachability may have changed, until ctx is
	// done. It returns once the subscription is active. After an error, it may be called again.
	Notify(ctx context.Context, onChange func(namespace, name string)) error
}

// Unavailability holds the reason and message of an APIService's Available condition.
type Unavailability struct {
	Reason, Message string
	// Unknown is set if the probe was inconclusive.
	Unknown bool
	// Retry is set if another probe may succeed even though no object has changed.
	Retry bool
}

// Availability maintains the Available condition of APIServices. Local APIServices are always
// available. For other APIServices, it probes the server after each change to the APIService or its
// Service, with backoff after failures, and at least every availabilityPeriod.
type Availability struct {
	*reconcile.Controller[string]
	services reconcile.Client
	prober   Prober
	metrics  *Metrics

	extended   chan struct{} // closed when the first APIService refers to a Service
	extendOnce sync.Once     // closes it

	mu    sync.Mutex                 // guards known
	known map[string]knownAPIService // by name
}

type knownAPIService struct {
	object             *meta.Object
	namespace, service string
}

// availabilityPeriod is the interval between probes of an unchanged server. It is also the maximum
// backoff.
const availabilityPeriod = 30 * time.Second

// NewAvailability returns a controller that checks servers with prober.
func NewAvailability(env *reconcile.Env, prober Prober, metrics *Metrics) *Availability {
	a := &Availability{
		services: apiServices(env), prober: prober, metrics: metrics, extended: make(chan struct{}), known: map[string]knownAPIService{},
	}
	a.Controller = reconcile.New(env, "RemoteAvailabilityController", a.sync, "", "")
	a.Failed = func(name string, err error) {
		if !errors.As(err, new(errUnavailable)) {
			env.Log.Warn("cannot update the status of an APIService", "apiservice", name, "error", err)
		}
	}
	a.Watch(a.services, a.observe)
	a.Go(reconcile.When(a.extended, a.followServices))
	a.Every(availabilityPeriod, a.repeat)
	return a
}

// observe records an APIService. It starts the Service watch when an APIService first refers to a
// Service.
func (a *Availability) observe(e reconcile.Event) {
	name := e.Key.Name
	if e.Deleted {
		a.mu.Lock()
		delete(a.known, name)
		a.mu.Unlock()
		a.metrics.forget(name)
		return
	}
	object, err := a.services.Decode(e.Object)
	if err != nil {
		a.Log.Error("cannot decode an APIService", "apiservice", name, "error", err)
		return
	}
	service := object.Object("spec", "service")
	a.mu.Lock()
	a.known[name] = knownAPIService{e.Object, service.String("namespace"), service.String("name")}
	a.mu.Unlock()
	a.metrics.set(name, tree.IsConditionTrue(object.Object("status"), "Available"))
	if service != nil {
		a.extendOnce.Do(func() { close(a.extended) })
	}
	a.Add(name)
}

// followServices enqueues the APIServices that refer to a changed Service. Without it, only the
// periodic probe would detect that a server has recovered.
func (a *Availability) followServices(ctx context.Context) {
	reconcile.Poll(ctx, reconcile.MinRetryDelay, reconcile.MaxRetryDelay, func() bool {
		err := a.prober.Notify(ctx, a.onService)
		if err != nil && ctx.Err() == nil {
			a.Log.Warn("cannot watch the Services of APIServices", "error", err)
		}
		return err == nil
	})
}

func (a *Availability) onService(namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for apiService, known := range a.known {
		if known.namespace == namespace && known.service == name {
			a.Add(apiService)
		}
	}
}

func (a *Availability) repeat(context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, known := range a.known {
		if known.service != "" {
			a.Add(name)
		}
	}
}

// errUnavailable makes the work queue retry the probe.
type errUnavailable struct{ Unavailability }

func (e errUnavailable) Error() string { return e.Message }

func (a *Availability) sync(ctx context.Context, name string) error {
	a.mu.Lock()
	known, ok := a.known[name]
	a.mu.Unlock()
	if !ok {
		return nil
	}
	object, err := a.services.Decode(known.object)
	if err != nil {
		return err
	}
	want, retry := tree.Tree{"type": "Available", "status": "True", "reason": "Local", "message": "Local APIServices are always available"}, error(nil)
	if spec := object.Object("spec"); spec.Has("service") {
		probed := a.prober.Probe(ctx, spec)
		if ctx.Err() != nil {
			return nil
		}
		if want = probed.condition(); probed.Retry {
			retry = errUnavailable{probed}
		}
	}
	return cmp.Or(a.write(ctx, known.object, object.Object("status"), want), retry)
}

// condition returns the Available condition. It uses kube-aggregator's texts, because clients match
// them.
func (u Unavailability) condition() tree.Tree {
	status, reason, message := "False", u.Reason, u.Message
	switch {
	case u.Reason == "":
		status, reason, message = "True", "Passed", "all checks passed"
	case u.Unknown:
		status = "Unknown"
	}
	return tree.Tree{"type": "Available", "status": status, "reason": reason, "message": message}
}

func (a *Availability) write(ctx context.Context, o *meta.Object, status, want tree.Tree) error {
	before := tree.FindCondition(status, "Available")
	a.metrics.change(o.Key.Name, want.String("status") == "True")
	conditions, changed := reconcile.WithCondition(status, want)
	if !changed {
		return nil
	}
	if err := a.services.PatchStatus(ctx, o, tree.Tree{"conditions": conditions}); err != nil {
		return err
	}
	if before.String("status") == "True" && want.String("status") != "True" {
		a.metrics.count(o.Key.Name, want.String("reason"))
	}
	a.Log.Info("availability of an APIService changed", "apiservice", o.Key.Name, "available", want["status"], "reason", want["reason"])
	return nil
}
