package reconcile

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An EventRecorder writes Events about objects, on behalf of one controller. What is said of the same object again is
// counted in the Event that there is. It is safe for concurrent use.
type EventRecorder struct {
	store     Store
	kind      *schema.Kind
	component string

	mu     sync.Mutex
	recent map[recordedEvent]eventSeries // what was said lately
}

// A recordedEvent is what was said of an object.
type recordedEvent struct {
	uid             meta.Text
	reason, message string
}

// An eventSeries is the Event that says it, and how often it did.
type eventSeries struct {
	key   meta.Key
	count int64
	last  time.Time
}

// The most Events that are remembered, and how often the same thing is written at most.
const (
	maxRecentEvents  = 512
	minEventInterval = 5 * time.Second
)

// The types of Events.
const (
	Normal  = "Normal"
	Warning = "Warning"
)

// NewEventRecorder makes one for the controller of a name.
func NewEventRecorder(store Store, kinds *catalog.Catalog, component string) *EventRecorder {
	return &EventRecorder{store: store, kind: CoreKind(kinds, "Event"), component: component, recent: map[recordedEvent]eventSeries{}}
}

// Record writes an Event about an object of a kind. An Event that cannot be written is lost: it is a remark, and nothing
// depends on it.
func (r *EventRecorder) Record(ctx context.Context, k *schema.Kind, o *meta.Object, kind, reason, message string) {
	now := time.Now()
	series, again := r.count(recordedEvent{meta.NewText(o.Meta.UID), reason, message}, o.Key, now)
	if again && series.count == 0 {
		return
	}
	at := now.UTC().Format(time.RFC3339)
	if again {
		m := request.Mutation{Kind: r.kind, Key: series.key, Change: request.Patch{Type: request.MergePatch, Body: fmt.Appendf(nil, `{"count":%d,"lastTimestamp":%q}`, series.count, at)}}
		if _, err := r.store.Mutate(ctx, m); err == nil {
			return
		}
	}
	version := k.Version
	if k.Group != "" {
		version = k.Group + "/" + k.Version
	}
	_ = Create(ctx, r.store, r.kind, series.key, tree.Tree{
		"metadata": tree.Tree{"namespace": series.key.Namespace, "name": series.key.Name},
		"involvedObject": tree.Tree{
			"apiVersion": version, "kind": k.Kind, "namespace": o.Key.Namespace, "name": o.Key.Name, "uid": o.Meta.UID,
		},
		"type": kind, "reason": reason, "message": message, "source": tree.Tree{"component": r.component}, "reportingComponent": r.component,
		"count": int64(1), "firstTimestamp": at, "lastTimestamp": at,
	})
}

// count notes that something is said once more. A count of 0 says that it was said just now.
func (r *EventRecorder) count(what recordedEvent, about meta.Key, now time.Time) (series eventSeries, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if series, again = r.recent[what]; again {
		if now.Sub(series.last) < minEventInterval {
			return eventSeries{}, true
		}
		series.count, series.last = series.count+1, now
		r.recent[what] = series
		return series, true
	}
	if len(r.recent) >= maxRecentEvents {
		for oldest := range r.recent { // any: what is forgotten gets an Event of its own again
			delete(r.recent, oldest)
			break
		}
	}
	namespace := about.Namespace
	if namespace == "" {
		namespace = "default"
	}
	series = eventSeries{
		key:   meta.Key{GroupResource: r.kind.Storage, Namespace: namespace, Name: fmt.Sprintf("%s.%x", about.Name, now.UnixNano())},
		count: 1, last: now,
	}
	r.recent[what] = series
	return series, false
}
