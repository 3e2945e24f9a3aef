package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Event types.
const (
	Normal  = "Normal"
	Warning = "Warning"
)

// A Recorder writes Events on behalf of one component.
type Recorder struct {
	writer    *eventWriter
	component string
}

// Recorder returns a Recorder for a component.
func (e *Env) Recorder(component string) *Recorder { return &Recorder{e.events, component} }

// Record writes an Event about an object asynchronously. It never blocks, so that quotas or a slow
// store cannot stop a controller. Events that arrive faster than they can be written are dropped.
func (r *Recorder) Record(k Client, o *meta.Object, kind, reason, message string) {
	e := event{component: r.component, kind: kind, reason: reason, message: message, at: time.Now(), about: about{
		APIVersion: k.APIVersion(), Kind: k.Kind.Kind, Namespace: o.Key.Namespace, Name: o.Key.Name, UID: o.Meta.UID,
	}, version: o.Version}
	e.about = e.about.clone()
	select {
	case r.writer.queue() <- &e:
	default:
	}
}

// Event is like Record, with an Item and a formatted message.
func (r *Recorder) Event(i *Item, kind, reason, format string, args ...any) {
	r.Record(i.client, i.Object(), kind, reason, fmt.Sprintf(format, args...))
}

// Limits as in client-go. After ten Events within ten minutes that differ only in the message,
// further Events are combined. Each object has a burst of 25 Events, and then one Event every five
// minutes.
const (
	maxSimilar     = 10
	similarFor     = 10 * time.Minute
	eventBurst     = 25
	eventInterval  = 5 * time.Minute
	maxEventSeries = 4096
	maxEventQueue  = 1000
)

// about identifies the object of an Event. It is comparable, so that it can be part of map keys.
type about struct{ APIVersion, Kind, Namespace, Name, UID string }

// clone returns a copy that does not keep the object's JSON in memory.
func (a about) clone() about {
	a.Namespace, a.Name, a.UID = strings.Clone(a.Namespace), strings.Clone(a.Name), strings.Clone(a.UID)
	return a
}

// Manager is the field manager of Events and workload controllers. Kubernetes uses the same name,
// and tools rely on it.
const Manager = "kube-controller-manager"

// event is an Event to write. With some fields left empty, it also serves as a map key in
// eventWriter.
type event struct {
	component, kind, reason, message string
	about                            about
	version                          uint64
	at                               time.Time
}

// An eventWriter combines and writes Events. Only one goroutine writes, so that the maps need no
// lock and the Events of a series keep their order.
type eventWriter struct {
	events  Client
	logger  *slog.Logger
	queue   func() chan *event // created on first use, because most controllers write no Events
	running Exclusive          // guards the fields below

	// These maps remember earlier Events. Clearing a full map is safe, because it only starts new
	// series and budgets.
	similar map[event]*similarEvents // without message, version and time
	series  map[event]*eventSeries   // without version and time
	budgets map[event]*eventBudget   // component and object only
}

// similarEvents holds the messages of Events that are otherwise equal, and the time of the last
// Event.
type similarEvents struct {
	messages map[string]bool
	last     time.Time
}

// An eventSeries is an Event object whose count is incremented. name is empty before the first
// write.
type eventSeries struct {
	name  string
	count int64
}

// An eventBudget is a token bucket that limits the Events about one object. Each Event takes one
// token. tokens is the number available at time at.
type eventBudget struct {
	tokens float64
	at     time.Time
}

func newEventWriter(events Client, logger *slog.Logger) *eventWriter {
	return &eventWriter{
		events: events, logger: logger, queue: sync.OnceValue(func() chan *event { return make(chan *event, maxEventQueue) }),
		similar: map[event]*similarEvents{}, series: map[event]*eventSeries{}, budgets: map[event]*eventBudget{},
	}
}

// RunEvents writes Events until the context is done. Several controllers of an Env may call it.
// Only one call writes at a time.
func (e *Env) RunEvents(ctx context.Context) {
	w := e.events
	w.running.Run(ctx, func() {
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-w.queue():
				if err := w.write(ctx, *e); err != nil && ctx.Err() == nil {
					w.logger.Debug("cannot write an Event", "reason", e.reason, "name", e.about.Name, "error", err)
				}
			}
		}
	})
}

func entryOf[V any](all map[event]*V, key event) *V {
	v := all[key]
	if v == nil {
		if len(all) >= maxEventSeries {
			clear(all)
		}
		v = new(V)
		all[key] = v
	}
	return v
}

// combine returns the Event to write and the key of its series. If there are too many similar
// Events, it returns a combined one.
func (w *eventWriter) combine(e event) (key, told event) {
	similar := e
	similar.message, similar.version, similar.at = "", 0, time.Time{}
	s := entryOf(w.similar, similar)
	if s.messages == nil || e.at.Sub(s.last) > similarFor {
		s.messages = map[string]bool{}
	}
	s.last = e.at
	key = similar
	if len(s.messages) < maxSimilar || s.messages[e.message] {
		s.messages[e.message] = true
		key.message = e.message
		return key, e
	}
	e.message = "(combined from similar events): " + e.message
	return key, e
}

// allows takes a token from the object's budget and reports whether one was available. Excess
// Events are dropped rather than delayed, because a failing object repeats them.
func (w *eventWriter) allows(e event) bool {
	b := entryOf(w.budgets, event{component: e.component, about: e.about})
	if b.at.IsZero() {
		b.tokens = eventBurst
	} else {
		b.tokens = min(eventBurst, b.tokens+e.at.Sub(b.at).Seconds()/eventInterval.Seconds())
	}
	b.at = e.at
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// write starts a series of Events or increments the count of an existing one. As in client-go, the
// name of an Event ends with its time in hexadecimal nanoseconds.
func (w *eventWriter) write(ctx context.Context, e event) error {
	key, e := w.combine(e)
	if !w.allows(e) {
		return nil
	}
	s := entryOf(w.series, key)
	s.count++
	at := e.at.UTC().Format(time.RFC3339)
	namespace := cmp.Or(e.about.Namespace, "default")
	if s.name != "" {
		change := tree.Tree{"count": s.count, "lastTimestamp": at, "message": e.message}
		_, err := w.events.patch(ctx, w.events.Key(namespace, s.name), "", request.MergePatch, change)
		if !IsNotFound(err) {
			return err
		}
		s.count = 1 // it has expired
	}
	s.name = e.about.Name + "." + strconv.FormatInt(e.at.UnixNano(), 16)
	_, err := w.events.Create(ctx, tree.Tree{
		"metadata": tree.Tree{"name": s.name, "namespace": namespace},
		"involvedObject": tree.Tree{
			"apiVersion": e.about.APIVersion, "kind": e.about.Kind, "namespace": e.about.Namespace, "name": e.about.Name, "uid": e.about.UID,
			"resourceVersion": strconv.FormatUint(e.version, 10),
		},
		"type": e.kind, "reason": e.reason, "message": e.message, "source": tree.Tree{"component": e.component},
		"reportingComponent": e.component, "firstTimestamp": at, "lastTimestamp": at, "count": s.count,
	})
	return err
}

// A Reporter writes Events about one object.
type Reporter struct {
	recorder *Recorder
	about    *Item
}

// About returns a Reporter for an object.
func (r *Recorder) About(i *Item) Reporter { return Reporter{r, i} }

// Normal records a Normal Event.
func (r Reporter) Normal(reason, format string, args ...any) {
	r.recorder.Event(r.about, Normal, reason, format, args...)
}

// Warn records a Warning Event.
func (r Reporter) Warn(reason, format string, args ...any) {
	r.recorder.Event(r.about, Warning, reason, format, args...)
}
