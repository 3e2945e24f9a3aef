package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The types of Events.
const (
	Normal  = "Normal"
	Warning = "Warning"
)

// A Recorder writes Events under the name of a controller.
type Recorder struct {
	writer    *eventWriter
	component string
	pods      *schema.Kind
}

// Recorder is that of a controller.
func (c *Cluster) Recorder(component string) *Recorder {
	return &Recorder{c.events, component, c.Pods.Kind}
}

// Event tells of something that has happened to an object. It never waits: where Events come faster than they can be
// written, some are lost.
// Events are advice for people. A controller that waited for them could be stopped by a quota or a slow store.
func (r *Recorder) Event(i *Item, kind, reason, format string, args ...any) {
	r.tell(i.kind, &i.Head, kind, reason, format, args...)
}

// PodEvent is Event for a Pod.
func (r *Recorder) PodEvent(p *Pod, kind, reason, format string, args ...any) {
	r.tell(r.pods, &p.Head, kind, reason, format, args...)
}

func (r *Recorder) tell(k *schema.Kind, h *Head, kind, reason, format string, args ...any) {
	e := event{component: r.component, kind: kind, reason: reason, message: fmt.Sprintf(format, args...), at: time.Now(), about: about{
		APIVersion: k.APIVersion(), Kind: k.Kind, Namespace: h.Key.Namespace, Name: h.Key.Name, UID: h.UID,
	}, version: h.Version}
	select {
	case r.writer.queue <- e:
	default:
	}
}

// The bounds are those by which clients of the API combine Events: similar ones that differ in the message only are
// combined after ten in ten minutes, and of one object there are 25 at once, then one every five minutes.
const (
	maxSimilar     = 10
	similarFor     = 10 * time.Minute
	eventBurst     = 25
	eventInterval  = 5 * time.Minute
	maxEventSeries = 4096
	maxEventQueue  = 1000
)

// about is the object that an Event is about.
// It is comparable, as it is part of the keys of maps.
type about struct{ APIVersion, Kind, Namespace, Name, UID string }

// With some of its fields left empty it is also the key of the maps of the writer.
type event struct {
	component, kind, reason, message string
	about                            about
	version                          uint64
	at                               time.Time
}

// An eventWriter combines Events and writes them, one after the other.
// One goroutine writes, so that the maps need no lock and Events of one series keep their order.
type eventWriter struct {
	store  reconcile.Store
	kind   *schema.Kind
	logger *slog.Logger
	queue  chan event
	once   sync.Once

	// What has been written, for the goroutine of Run. Each map is emptied when it is full, which only means that an
	// Event begins a new series.
	similar map[event]*similarEvents // without message, version and time
	series  map[event]*eventSeries   // without version and time
	budgets map[event]*eventBudget   // component and object alone
}

// similarEvents are the messages of Events that are alike otherwise, and when the last one came.
type similarEvents struct {
	messages map[string]bool
	last     time.Time
}

// An eventSeries is the Event object that is counted up; its name is empty before it was written.
type eventSeries struct {
	name  string
	count int64
}

// An eventBudget is a token bucket: it holds tokens as of at, and each Event takes one.
type eventBudget struct {
	tokens float64
	at     time.Time
}

func newEventWriter(store reconcile.Store, kind *schema.Kind, logger *slog.Logger) *eventWriter {
	return &eventWriter{
		store: store, kind: kind, logger: logger, queue: make(chan event, maxEventQueue),
		similar: map[event]*similarEvents{}, series: map[event]*eventSeries{}, budgets: map[event]*eventBudget{},
	}
}

// RunEvents writes Events until the context ends. All who share the Cluster call it; one does the work.
func (c *Cluster) RunEvents(ctx context.Context) {
	c.events.once.Do(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-c.events.queue:
				if err := c.events.write(ctx, e); err != nil && ctx.Err() == nil {
					c.Logger.Debug("an event is not written", "reason", e.reason, "name", e.about.Name, "error", err)
				}
			}
		}
	})
}

// entry is the entry of a key, made if need be.
func entry[V any](all map[event]*V, key event) *V {
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

// combine is the key of the series that an Event belongs to, and the Event as it is told.
func (w *eventWriter) combine(e event) (key, told event) {
	similar := e
	similar.message, similar.version, similar.at = "", 0, time.Time{}
	s := entry(w.similar, similar)
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

// allows tells whether an object may have another Event now.
// It drops an Event instead of putting it off: an object that fails over and over says the same each time.
func (w *eventWriter) allows(e event) bool {
	b := entry(w.budgets, event{component: e.component, about: e.about})
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

// write begins a series, or counts in one.
// The name of the object has a time in nanoseconds, in base 16, at its end, so that series of one object do not collide.
func (w *eventWriter) write(ctx context.Context, e event) error {
	key, e := w.combine(e)
	if !w.allows(e) {
		return nil
	}
	s := entry(w.series, key)
	s.count++
	at := e.at.UTC().Format(time.RFC3339)
	if s.name != "" {
		body, err := json.Marshal(tree.Tree{"count": s.count, "lastTimestamp": at, "message": e.message})
		if err != nil {
			return err
		}
		err = w.mutate(ctx, e, request.Mutation{Key: w.key(e, s.name), Change: request.Patch{Type: request.MergePatch, Body: body}})
		if !reconcile.IsNotFound(err) {
			return err
		}
		s.count = 1 // it has expired
	}
	s.name = e.about.Name + "." + strconv.FormatInt(e.at.UnixNano(), 16)
	return w.mutate(ctx, e, request.Mutation{Key: w.key(e, s.name), Change: request.Create{Object: w.object(e, s, at)}})
}

// key is the key of an Event object, which is in the namespace of the object that it is about.
func (w *eventWriter) key(e event, name string) meta.Key {
	return meta.Key{GroupResource: w.kind.Storage, Namespace: e.about.Namespace, Name: name}
}

// It passes by the caches, since nobody follows Events here.
func (w *eventWriter) mutate(ctx context.Context, _ event, m request.Mutation) error {
	m.Kind, m.FieldManager = w.kind, Manager
	_, err := w.store.Mutate(ctx, m)
	return err
}

// object is the Event object that begins a series, in the form of the core group that clients list.
func (w *eventWriter) object(e event, s *eventSeries, at string) tree.Tree {
	return tree.Tree{
		"metadata": tree.Tree{"name": s.name, "namespace": e.about.Namespace},
		"involvedObject": tree.Tree{
			"apiVersion": e.about.APIVersion, "kind": e.about.Kind, "namespace": e.about.Namespace, "name": e.about.Name, "uid": e.about.UID,
			"resourceVersion": strconv.FormatUint(e.version, 10),
		},
		"type": e.kind, "reason": e.reason, "message": e.message, "source": tree.Tree{"component": e.component},
		"reportingComponent": e.component, "firstTimestamp": at, "lastTimestamp": at, "count": s.count,
	}
}
