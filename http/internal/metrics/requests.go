package metrics

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Requests are the series about requests. A series is found by a small key, without making
// text; the keys come from the catalogue, so their number is bounded: series of kinds that are not served any more are
// removed.
type Requests struct {
	total, deprecations *Family
	// served tells whether there is such a resource now.
	served func(group, version, resource string) bool

	mu     sync.Mutex // serializes additions to what follows, which is never changed in place
	routes atomic.Pointer[map[Route]*routeSeries]
	// deprecated holds the deprecated versions that were asked for.
	deprecated atomic.Pointer[map[deprecatedVersion]struct{}]
}

// A Route tells what requests are counted together. Requests for no served resource
// share one for each verb, whatever their path.
type Route struct {
	Group, Version, Resource string // of a served kind; or all empty
	Verb, Subresource        string
	Collection               bool
	Namespaced               bool
}

// routeSeries counts the requests of one route.
type routeSeries struct {
	durations histogram
	labels    string
	byCode    atomic.Pointer[[]codeSeries] // by their codes, of which there are few
}

// codeSeries counts the answers with one code.
type codeSeries struct {
	code  int
	count *metrics.Counter
}

// NewRequests makes the series, of which there are none yet.
//
// served tells whether there is such a resource now.
func NewRequests(served func(group, version, resource string) bool) *Requests {
	r := &Requests{
		served:       served,
		total:        newFamily("apiserver_request_total", "counter", "Requests answered, by what they asked for and the code of the answer."),
		deprecations: newFamily("apiserver_requested_deprecated_apis", "gauge", "Deprecated versions that were asked for since the start."),
	}
	r.routes.Store(&map[Route]*routeSeries{})
	r.deprecated.Store(&map[deprecatedVersion]struct{}{})
	return r
}

// Count counts a request when its answer is decided.
func (r *Requests) Count(k Route, code int) { r.counter(r.route(k), code).Inc() }

// CountTimed counts a request, and how long its answer took.
func (r *Requests) CountTimed(k Route, code int, took time.Duration) {
	s := r.route(k)
	r.counter(s, code).Inc()
	s.durations.observe(took)
}

// route finds the series of a route, or adds it.
func (r *Requests) route(k Route) *routeSeries {
	if s := (*r.routes.Load())[k]; s != nil {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	old := *r.routes.Load()
	if s := old[k]; s != nil {
		return s
	}
	s := &routeSeries{labels: k.labels()}
	s.byCode.Store(&[]codeSeries{})
	next := r.servedRoutes(old)
	for _, other := range next {
		if other.labels == s.labels {
			s = other // a create and a post of no resource are one verb; a kind may have been defined anew
			break
		}
	}
	next[k] = s
	r.routes.Store(&next)
	return s
}

// servedRoutes is a copy of the routes without those of kinds that are not served any more, whose series are removed.
func (r *Requests) servedRoutes(all map[Route]*routeSeries) map[Route]*routeSeries {
	served := make(map[Route]*routeSeries, len(all)+1)
	for k, s := range all {
		if k.Resource == "" || r.served(k.Group, k.Version, k.Resource) {
			served[k] = s
			continue
		}
		for _, c := range *s.byCode.Load() {
			r.total.remove(s.labels + `,code="` + strconv.Itoa(c.code) + `"`)
		}
	}
	return served
}

// counter returns the counter of a code.
func (r *Requests) counter(s *routeSeries, code int) *metrics.Counter {
	for _, c := range *s.byCode.Load() {
		if c.code == code {
			return c.count
		}
	}
	return r.addCounter(s, code)
}

// addCounter adds the counter of a code, unless another request has added it. Lists of counters are not changed in place.
func (r *Requests) addCounter(s *routeSeries, code int) *metrics.Counter {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := *s.byCode.Load()
	if i := slices.IndexFunc(all, func(c codeSeries) bool { return c.code == code }); i >= 0 {
		return all[i].count
	}
	c := r.total.Counter(s.labels + `,code="` + strconv.Itoa(code) + `"`)
	all = append(slices.Clone(all), codeSeries{code, c})
	s.byCode.Store(&all)
	return c
}

// labels are the labels of a route, apart from the code.
func (k Route) labels() string {
	scope := ""
	switch {
	case k.Resource == "":
	case !k.Collection:
		scope = "resource"
	case k.Namespaced:
		scope = "namespace"
	default:
		scope = "cluster"
	}
	return fmt.Sprintf("verb=%q,group=%q,version=%q,resource=%q,subresource=%q,scope=%q", k.verbLabel(), k.Group, k.Version, k.Resource, k.Subresource, scope)
}

// verbLabel is the verb as dashboards know it.
func (k Route) verbLabel() string {
	switch k.Verb {
	case "":
		return "other"
	case "create":
		return "POST"
	case "update":
		return "PUT"
	}
	return strings.ToUpper(k.Verb)
}

// deprecatedVersion is a deprecated version of a resource that was asked for.
type deprecatedVersion struct{ group, version, resource, subresource, removed string }

// MarkDeprecated notes that a deprecated version of a resource was asked for.
func (r *Requests) MarkDeprecated(k *schema.Kind, subresource string) {
	v := deprecatedVersion{k.Group, k.Version, k.Resource, subresource, k.Deprecation.Removed}
	if _, ok := (*r.deprecated.Load())[v]; ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	old := *r.deprecated.Load()
	if _, ok := old[v]; ok {
		return
	}
	next := maps.Clone(old)
	next[v] = struct{}{}
	r.deprecated.Store(&next)
	r.deprecations.Func(v.labels(), func() float64 { return 1 })
}

func (v deprecatedVersion) labels() string {
	return fmt.Sprintf("group=%q,removed_release=%q,resource=%q,subresource=%q,version=%q",
		v.group, v.removed, v.resource, v.subresource, v.version)
}

// prune removes the series of kinds that are not served any more.
func (r *Requests) prune() {
	r.mu.Lock()
	defer r.mu.Unlock()
	routes := r.servedRoutes(*r.routes.Load())
	r.routes.Store(&routes)
	deprecated := maps.Clone(*r.deprecated.Load())
	for v := range deprecated {
		if !r.served(v.group, v.version, v.resource) {
			delete(deprecated, v)
			r.deprecations.remove(v.labels())
		}
	}
	r.deprecated.Store(&deprecated)
}

// WritePrometheus writes the counters and durations, sorted by labels.
func (r *Requests) WritePrometheus(w io.Writer) {
	r.prune()
	const durations = "apiserver_request_duration_seconds"
	r.total.write(w)
	writeHelp(w, durations, "histogram", "Time to answer, in seconds, but for watches.")
	all := slices.SortedFunc(maps.Values(*r.routes.Load()), func(a, b *routeSeries) int { return cmp.Compare(a.labels, b.labels) })
	for _, s := range slices.Compact(all) {
		s.durations.write(w, durations, s.labels)
	}
	r.deprecations.write(w)
}
