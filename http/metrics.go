package http

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Metrics are the series of the front. A series is found by a small key, without making
// text; the keys come from the catalogue, so their number is bounded.
type Metrics struct {
	memoryRefused atomic.Uint64 // requests that were refused because memory was short

	mu     sync.Mutex // serializes additions to what follows, which is never changed in place
	routes atomic.Pointer[map[routeKey]*routeSeries]
	// deprecated holds the deprecated versions that were asked for.
	deprecated atomic.Pointer[map[deprecatedKey]*struct{}]
}

// A routeKey tells what requests are counted together. Requests for no served resource
// share one key for each verb, whatever their path.
type routeKey struct {
	kind              *schema.Kind
	verb, subresource string
	collection        bool
	namespaced        bool
}

// A routeSeries counts the requests of one key.
type routeSeries struct {
	durations histogram
	byCode    atomic.Pointer[[]*codeSeries] // by their codes, of which there are few; nil: none
}

// An codeSeries counts the answers with one code.
type codeSeries struct {
	code  int
	count atomic.Uint64
}

func newMetrics() *Metrics {
	m := &Metrics{}
	m.routes.Store(&map[routeKey]*routeSeries{})
	m.deprecated.Store(&map[deprecatedKey]*struct{}{})
	return m
}

// countRequest counts the request when its answer is decided.
func (s *Server) countRequest(x *requestContext) {
	key := routeKey{kind: x.kind, verb: x.info.Verb}
	if x.kind != nil {
		if x.kind.Original != nil { // a series goes on when its kind is defined anew
			key.kind = x.kind.Original
		}
		key.collection, key.namespaced = x.info.Name == "", x.info.Namespace != ""
		if x.subresource != nil {
			key.subresource = x.subresource.Name
		}
	}
	route := loadOrAdd(&s.metrics.mu, &s.metrics.routes, key)
	route.countResponse(&s.metrics.mu, x.ctx.Response.StatusCode())
	if !x.hijacked {
		route.durations.observe(time.Since(x.start))
	}
}

// countResponse counts an answer; mu serializes the additions of codes.
func (r *routeSeries) countResponse(mu *sync.Mutex, code int) {
	if a := r.find(code); a != nil {
		a.count.Add(1)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	a := r.find(code)
	if a == nil {
		a = &codeSeries{code: code}
		all := append(slices.Clone(r.codes()), a)
		r.byCode.Store(&all)
	}
	a.count.Add(1)
}

// codes are the series that there are; nobody changes the list.
func (r *routeSeries) codes() []*codeSeries {
	if all := r.byCode.Load(); all != nil {
		return *all
	}
	return nil
}

// find is the series of a code; nil if there is none.
func (r *routeSeries) find(code int) *codeSeries {
	for _, a := range r.codes() {
		if a.code == code {
			return a
		}
	}
	return nil
}

// loadOrAdd finds the series of a key, or adds it.
func loadOrAdd[K comparable, V any](mu *sync.Mutex, p *atomic.Pointer[map[K]*V], key K) *V {
	if v := (*p.Load())[key]; v != nil {
		return v
	}
	mu.Lock()
	defer mu.Unlock()
	old := *p.Load()
	if v := old[key]; v != nil {
		return v
	}
	next := maps.Clone(old)
	v := new(V)
	next[key] = v
	p.Store(&next)
	return v
}

// labels are the labels of a key, apart from the code.
func (k routeKey) labels() string {
	group, version, resource, scope := "", "", "", ""
	if k.kind != nil {
		group, version, resource = k.kind.Group, k.kind.Version, k.kind.Resource
		switch {
		case !k.collection:
			scope = "resource"
		case k.namespaced:
			scope = "namespace"
		default:
			scope = "cluster"
		}
	}
	return fmt.Sprintf("verb=%q,group=%q,version=%q,resource=%q,subresource=%q,scope=%q", k.metricVerb(), group, version, resource, k.subresource, scope)
}

// metricVerb is the verb as dashboards know it.
func (k routeKey) metricVerb() string {
	switch k.verb {
	case "":
		return "other"
	case "create":
		return "POST"
	case "update":
		return "PUT"
	case "deletecollection":
		return "DELETECOLLECTION"
	}
	return string(bytes.ToUpper([]byte(k.verb)))
}

const typeMetrics = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

// writeMetrics answers /metrics.
func (s *Server) writeMetrics(x *requestContext) error {
	var b bytes.Buffer
	s.metrics.write(&b)
	writeHelp(&b, "apiserver_current_inflight_requests", "gauge", "Requests that are being answered, by their sort.")
	writeSample(&b, "apiserver_current_inflight_requests", `request_kind="readOnly"`, strconv.FormatInt(s.limiters.readOnly.InFlight(), 10))
	writeSample(&b, "apiserver_current_inflight_requests", `request_kind="mutating"`, strconv.FormatInt(s.limiters.mutating.InFlight(), 10))
	writeHelp(&b, "troupe_response_bytes", "gauge", "Memory of large answers that are being written, beside the objects.")
	fmt.Fprintf(&b, "troupe_response_bytes %d\n", s.responseBudget.Used())
	writeHelp(&b, "apiserver_longrunning_requests", "gauge", "Watches that are open.")
	writeSample(&b, "apiserver_longrunning_requests", `verb="WATCH"`, strconv.FormatInt(s.limiters.openWatches.Load(), 10))
	writeHelp(&b, "apiserver_tls_handshake_errors_total", "counter", "Handshakes of TLS that have failed.")
	fmt.Fprintf(&b, "apiserver_tls_handshake_errors_total %d\n", s.connections.Stats().HandshakeErrors)
	s.writeConnections(&b)
	writeHelp(&b, "troupe_memory_refused_total", "counter", "Requests that were refused because memory was short.")
	fmt.Fprintf(&b, "troupe_memory_refused_total %d\n", s.metrics.memoryRefused.Load())
	if s.opts.Audit != nil {
		s.opts.Audit.WriteMetrics(&b)
	}
	if s.opts.Metrics != nil {
		s.opts.Metrics.WritePrometheus(&b)
	}
	if s.opts.WriteMetrics != nil {
		s.opts.WriteMetrics(&b)
	}
	x.setHeader("X-Content-Type-Options", "nosniff")
	s.writeRaw(x, typeMetrics, b.Bytes())
	return nil
}

// writeConnections writes the series of connections and of the bodies that they send.
func (s *Server) writeConnections(b *bytes.Buffer) {
	c := s.connections.Stats()
	writeHelp(b, "troupe_connections", "gauge", "Connections that are open: those that have sent a whole request, and those that have not.")
	writeSample(b, "troupe_connections", `state="settled"`, strconv.Itoa(c.Open-c.New))
	writeSample(b, "troupe_connections", `state="new"`, strconv.Itoa(c.New))
	writeHelp(b, "troupe_connections_limit", "gauge", "Connections that may be open.")
	fmt.Fprintf(b, "troupe_connections_limit %d\n", c.Limit)
	writeHelp(b, "troupe_connections_refused_total", "counter", "Connections that were not let in, or closed to let others in, because there were too many.")
	writeSample(b, "troupe_connections_refused_total", `reason="full"`, strconv.FormatUint(c.Refused, 10))
	writeSample(b, "troupe_connections_refused_total", `reason="oldest"`, strconv.FormatUint(c.Evicted, 10))
	writeHelp(b, "troupe_accept_errors_total", "counter", "Attempts to accept a connection that have failed.")
	fmt.Fprintf(b, "troupe_accept_errors_total %d\n", c.AcceptErrors)
	writeHelp(b, "troupe_request_body_bytes", "gauge", "Memory that bodies of requests hold, beyond what each has for nothing.")
	fmt.Fprintf(b, "troupe_request_body_bytes %d\n", s.bodyBudget.Used())
}

func writeHelp(b *bytes.Buffer, name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// write writes the counters and durations, sorted by labels.
func (m *Metrics) write(b *bytes.Buffer) {
	writeHelp(b, "apiserver_request_total", "counter", "Requests answered, by what they asked for and the code of the answer.")
	routes := *m.routes.Load()
	var lines []string
	for k, r := range routes {
		labels := k.labels()
		for _, a := range r.codes() {
			lines = append(lines, formatSample("apiserver_request_total", labels+`,code="`+strconv.Itoa(a.code)+`"`, strconv.FormatUint(a.count.Load(), 10)))
		}
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
	writeHelp(b, "apiserver_request_duration_seconds", "histogram", "Time to answer, in seconds, but for watches.")
	keys := slices.SortedFunc(maps.Keys(routes), func(a, b routeKey) int { return cmp.Compare(a.labels(), b.labels()) })
	for _, k := range keys {
		routes[k].durations.write(b, "apiserver_request_duration_seconds", k.labels())
	}
	m.writeDeprecated(b)
}
