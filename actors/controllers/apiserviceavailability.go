package controllers

import (
	"context"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
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
	store   Store
	kind    *schema.Kind
	prober  APIServiceProber
	manager string // field manager
	metrics *APIServiceMetrics
	logger  *slog.Logger

	queue      *reconcile.Workqueue[string] // names
	extended   chan struct{}                // closed when an APIService has named a Service
	extendOnce sync.Once                    // closes it

	mu    sync.Mutex                 // guards known
	known map[string]knownAPIService // by name
}

// A knownAPIService is an APIService as it was last seen, and the Service that it names, if any.
type knownAPIService struct {
	object             *meta.Object
	namespace, service string
}

const (
	// availabilityPeriod is the time between two probes of a server of which nothing has changed. A failed one is
	// repeated earlier, but never later.
	availabilityPeriod = 30 * time.Second
	// availabilityWorkers are the probes at a time: a server that does not answer takes one for some seconds.
	availabilityWorkers = 32
)

// NewAPIServiceAvailability returns the controller for the kinds of a catalogue.
func NewAPIServiceAvailability(store Store, kinds *catalog.Catalog, prober APIServiceProber, metrics *APIServiceMetrics, logger *slog.Logger) *APIServiceAvailability {
	return &APIServiceAvailability{
		store: store, kind: apiServiceKind(kinds), prober: prober, metrics: metrics, logger: logger,
		manager: kinds.Naming().Translate("platform-apiserver"),
		queue:   reconcile.NewWorkqueue[string]().Named("RemoteAvailabilityController"), extended: make(chan struct{}), known: map[string]knownAPIService{},
	}
}

// Run runs the controller until the context ends.
func (a *APIServiceAvailability) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { a.repeat(ctx) })
	running.Go(func() { a.followServices(ctx) })
	for range availabilityWorkers {
		running.Go(func() { a.work(ctx) })
	}
	reconcile.RunInformer(ctx, a.store, a.kind, reconcile.EventHandlerFunc(a.observe))
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
	object, err := codec.DecodeStored(a.kind.Message(), e.JSON)
	if err != nil {
		a.logger.Error("an APIService cannot be read", "apiservice", name, "error", err)
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
	a.queue.Add(name)
}

// followServices enqueues the APIServices of each Service that changes, from the first time that one names a Service. It
// is tried until it works: without it, a server that has come back would be found only by a periodic probe.
func (a *APIServiceAvailability) followServices(ctx context.Context) {
	select {
	case <-a.extended:
	case <-ctx.Done():
		return
	}
	for pause := reconcile.MinRetryDelay; ; pause = min(2*pause, reconcile.MaxRetryDelay) {
		err := a.prober.Notify(ctx, a.onService)
		if err == nil || ctx.Err() != nil {
			return
		}
		a.logger.Warn("the Services of APIServices are not followed", "error", err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// onService enqueues the APIServices that name a Service.
func (a *APIServiceAvailability) onService(namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for apiService, known := range a.known {
		if known.namespace == namespace && known.service == name {
			a.queue.Add(apiService)
		}
	}
}

// repeat processes all APIServices that name a Service, from time to time.
func (a *APIServiceAvailability) repeat(ctx context.Context) {
	tick := time.NewTicker(availabilityPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		a.mu.Lock()
		for name, known := range a.known {
			if known.service != "" {
				a.queue.Add(name)
			}
		}
		a.mu.Unlock()
	}
}

// work processes APIServices one by one, so that none waits for another's server.
func (a *APIServiceAvailability) work(ctx context.Context) {
	for {
		names := a.queue.Get(ctx, 1)
		if names == nil {
			return
		}
		retry, err := a.sync(ctx, names[0])
		if err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
			a.logger.Warn("writing the status of an APIService", "apiservice", names[0], "error", err)
		}
		if err == nil {
			err = retry
		}
		a.queue.Done(ctx, names[0], err)
	}
}

// errUnavailable puts off the next probe.
type errUnavailable struct{ Unavailability }

// Error implements error, so that the queue repeats the probe of a server that was not available.
func (e errUnavailable) Error() string { return e.Message }

// sync brings the condition of one APIService up to date. retry says that it is to be looked at again soon.
func (a *APIServiceAvailability) sync(ctx context.Context, name string) (retry, err error) {
	a.mu.Lock()
	known, ok := a.known[name]
	a.mu.Unlock()
	if !ok {
		return nil, nil
	}
	object, err := codec.DecodeStored(a.kind.Message(), known.object.JSON)
	if err != nil {
		return nil, err
	}
	want := tree.Tree{"type": "Available", "status": "True", "reason": "Local", "message": "Local APIServices are always available"}
	if spec := object.Object("spec"); spec.Has("service") {
		probed := a.prober.Probe(ctx, spec)
		if ctx.Err() != nil {
			return nil, nil
		}
		if want = probed.condition(); probed.Retry {
			retry = errUnavailable{probed}
		}
	}
	return retry, a.write(ctx, known.object, object.Object("status"), want)
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
	want["lastTransitionTime"] = timestamp()
	if before.String("status") == want.String("status") {
		want["lastTransitionTime"] = before["lastTransitionTime"]
	}
	if before != nil && reflect.DeepEqual(before, want) {
		return nil
	}
	var conditions []any
	for _, c := range status.Objects("conditions") {
		if c.String("type") != "Available" {
			conditions = append(conditions, c)
		}
	}
	change := tree.Tree{"status": tree.Tree{"conditions": append(conditions, want)}}
	if err := reconcile.PatchAs(ctx, a.store, a.manager, a.kind, o, "status", change); err != nil {
		return err
	}
	if before.String("status") == "True" && want.String("status") != "True" {
		a.metrics.count(o.Key.Name, want.String("reason"))
	}
	a.logger.Info("the availability of an APIService has changed", "apiservice", o.Key.Name, "available", want["status"], "reason", want["reason"])
	return nil
}
