package http

import (
	"io"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/internal/metrics"
)

// requestBuckets are the upper bounds of the duration buckets, in seconds.
var requestBuckets = []float64{0.001, 0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 8, 15, 30, 60}

// requestMetrics holds the request metrics. Lookups use a struct key to avoid building strings. The
// series of kinds that are no longer served are removed, so the catalog limits the number of
// series.
type requestMetrics struct {
	total      *metrics.Counters
	durations  *metrics.Histograms
	deprecated *metrics.Gauges
	served     func(group, version, resource string) bool

	mu     sync.Mutex // serializes additions to routes, which is never changed in place
	routes atomic.Pointer[map[countedRoute]routeSeries]
}

// A countedRoute identifies requests that are counted together. Requests for resources that are not
// served are counted by verb only.
type countedRoute struct {
	group, version, resource string // of a served kind; or all empty
	verb, subresource        string
	collection               bool
	namespaced               bool
	code                     int
	timed                    bool
}

type routeSeries struct {
	count *metrics.Counter
	took  *metrics.Histogram
}

func newRequestMetrics(served func(group, version, resource string) bool) *requestMetrics {
	r := &requestMetrics{
		served: served,
		total: metrics.NewCounters("apiserver_request_total", "Requests by verb, resource and status code.",
			"verb", "group", "version", "resource", "subresource", "scope", "code"),
		durations: metrics.NewHistograms("apiserver_request_duration_seconds", "Request duration in seconds, without watches.", requestBuckets,
			"verb", "group", "version", "resource", "subresource", "scope"),
		deprecated: metrics.NewGauges("apiserver_requested_deprecated_apis", "Deprecated API versions requested since the start.",
			"group", "removed_release", "resource", "subresource", "version"),
	}
	r.routes.Store(&map[countedRoute]routeSeries{})
	return r
}

func (r *requestMetrics) count(k countedRoute, took time.Duration) {
	s, ok := (*r.routes.Load())[k]
	if !ok {
		s = r.add(k)
	}
	s.count.Inc()
	if k.timed {
		s.took.ObserveDuration(took)
	}
}

// add adds the series of a route. Routes with equal labels share a series, for example those of the
// verbs create and post.
func (r *requestMetrics) add(k countedRoute) (s routeSeries) {
	r.mu.Lock()
	defer r.mu.Unlock()
	labels := k.labels()
	next := r.prune()
	s.count = r.total.With(append(labels, strconv.Itoa(k.code))...)
	if k.timed {
		s.took = r.durations.With(labels...)
	}
	next[k] = s
	r.routes.Store(&next)
	return s
}

// prune removes the series of kinds that are no longer served, and returns a copy of the routes
// without them. The caller holds r.mu.
func (r *requestMetrics) prune() map[countedRoute]routeSeries {
	gone := func(group, version, resource string) bool {
		return resource != "" && !r.served(group, version, resource)
	}
	ofRoute := func(v []string) bool { return gone(v[1], v[2], v[3]) }
	r.total.Delete(ofRoute)
	r.durations.Delete(ofRoute)
	r.deprecated.Delete(func(v []string) bool { return gone(v[0], v[4], v[2]) })
	next := maps.Clone(*r.routes.Load())
	maps.DeleteFunc(next, func(k countedRoute, _ routeSeries) bool { return gone(k.group, k.version, k.resource) })
	return next
}

func (k countedRoute) labels() []string {
	scope := ""
	switch {
	case k.resource == "":
	case !k.collection:
		scope = "resource"
	case k.namespaced:
		scope = "namespace"
	default:
		scope = "cluster"
	}
	return []string{k.verbLabel(), k.group, k.version, k.resource, k.subresource, scope}
}

// verbLabel returns the verb in kube-apiserver's metrics.
func (k countedRoute) verbLabel() string {
	switch k.verb {
	case "":
		return "other"
	case "create":
		return "POST"
	case "update":
		return "PUT"
	}
	return strings.ToUpper(k.verb)
}

func (r *requestMetrics) write(w io.Writer) {
	r.mu.Lock()
	routes := r.prune()
	r.routes.Store(&routes)
	r.mu.Unlock()
	metrics.Write(w, r.total, r.durations, r.deprecated)
}
