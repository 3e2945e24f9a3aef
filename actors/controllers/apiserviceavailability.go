package controllers

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// APIServiceProber finds out whether the server behind an APIService answers.
type APIServiceProber interface {
	// Probe returns why the server of an APIService, whose spec names a Service, is not available; a zero
	// Unavailability if it is. It waits no longer than a few seconds.
	Probe(ctx context.Context, spec tree.Tree) Unavailability
	// Notify calls onChange, until the context ends, with each Service of which something has changed that decides how
	// it is reached. It returns when it has begun to, and may be called again if it has failed.
	Notify(ctx context.Context, onChange func(namespace, name string)) error
}

// Unavailability is why an APIService is not available, as its condition says it.
type Unavailability struct {
	Reason, Message string
	// Unknown: it could not be found out.
	Unknown bool
	// Retry: it is worth while to ask again although no object has changed.
	Retry bool
}

// APIServiceAvailability keeps the condition Available of APIServices. Those of this server itself always are; of the
// others it asks the server behind, after each change of the APIService or of its Service, after a failure with growing
// pauses, and every availabilityPeriod.
type APIServiceAvailability struct {
	*reconcile.Controller[string]
	services reconcile.Client
	prober   APIServiceProber
	metrics  *APIServiceMetrics

	extended   chan struct{} // closed when an APIService has named a Service
	extendOnce sync.Once     // closes it

	mu    sync.Mutex                 // guards known
	known map[string]knownAPIService // by name
}

// A knownAPIService is an APIService as it was last seen, and the Service that it names, if any.
type knownAPIService struct {
	object             *meta.Object
	namespace, service string
}

// availabilityPeriod is the time between two probes of a server of which nothing has changed. A failed one is
// repeated earlier, but never later.
const availabilityPeriod = 30 * time.Second

// NewAPIServiceAvailability returns the controller.
func NewAPIServiceAvailability(env *Env, prober APIServiceProber, metrics *APIServiceMetrics) *APIServiceAvailability {
	a := &APIServiceAvailability{
		services: apiServices(env), prober: prober, metrics: metrics, extended: make(chan struct{}), known: map[string]knownAPIService{},
	}
	a.Controller = reconcile.New(env, "RemoteAvailabilityController", a.sync, "", "")
	a.Failed = func(name string, err error) {
		if !errors.As(err, new(errUnavailable)) {
			env.Log.Warn("writing the status of an APIService", "apiservice", name, "error", err)
		}
	}
	a.Watch(a.services, a.observe)
	a.Go(reconcile.When(a.extended, a.followServices))
	a.Every(availabilityPeriod, a.repeat)
	return a
}

// observe takes in an APIService. Who changes Services is followed from the first time that an APIService names one.
func (a *APIServiceAvailability) observe(e reconcile.Event) {
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
		a.Log.Error("an APIService cannot be read", "apiservice", name, "error", err)
		return
	}
	service := object.Object("spec", "service")
	a.mu.Lock()
	a.known[name] = knownAPIService{e.Object, service.String("namespace"), service.String("name")}
	a.mu.Unlock()
	a.metrics.set(name, condition.IsTrue(object.Object("status"), "Available"))
	if service != nil {
		a.extendOnce.Do(func() { close(a.extended) })
	}
	a.Add(name)
}

// followServices enqueues the APIServices of each Service that changes, from the first time that one names a Service. It
// is tried until it works: without it, a server that has come back would be found only by a periodic probe.
func (a *APIServiceAvailability) followServices(ctx context.Context) {
	reconcile.Poll(ctx, reconcile.MinRetryDelay, reconcile.MaxRetryDelay, func() bool {
		err := a.prober.Notify(ctx, a.onService)
		if err != nil && ctx.Err() == nil {
			a.Log.Warn("the Services of APIServices are not followed", "error", err)
		}
		return err == nil
	})
}

// onService enqueues the APIServices that name a Service.
func (a *APIServiceAvailability) onService(namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for apiService, known := range a.known {
		if known.namespace == namespace && known.service == name {
			a.Add(apiService)
		}
	}
}

// repeat processes all APIServices that name a Service, from time to time.
func (a *APIServiceAvailability) repeat(context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, known := range a.known {
		if known.service != "" {
			a.Add(name)
		}
	}
}

// errUnavailable puts off the next probe.
type errUnavailable struct{ Unavailability }

// Error implements error, so that the queue repeats the probe of a server that was not available.
func (e errUnavailable) Error() string { return e.Message }

// sync brings the condition of one APIService up to date. retry says that it is to be looked at again soon.
func (a *APIServiceAvailability) sync(ctx context.Context, name string) error {
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

// condition is the condition Available of an APIService. The texts are those of kube-aggregator, which clients match.
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

// write writes the condition, if it is another one than there is. Other conditions stay as they are.
func (a *APIServiceAvailability) write(ctx context.Context, o *meta.Object, status, want tree.Tree) error {
	before := condition.Find(status, "Available")
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
	a.Log.Info("the availability of an APIService has changed", "apiservice", o.Key.Name, "available", want["status"], "reason", want["reason"])
	return nil
}
