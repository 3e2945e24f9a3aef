package http

import (
	"bytes"
	"time"

	"github.com/troupe-api/troupe/http/internal/metrics"
)

// countRequest counts the request when its answer is decided.
//
// A watch is counted when it begins and not timed: its duration says how long the client wanted it, and would bury
// all others.
func (s *Server) countRequest(x *requestContext) {
	route := metrics.Route{Verb: x.info.Verb}
	if x.subresource != nil && x.subresource.Connects {
		route.Verb = "connect"
	}
	if x.kind != nil {
		route.Group, route.Version, route.Resource = x.kind.Group, x.kind.Version, x.kind.Resource
		route.Collection, route.Namespaced = x.info.Name == "", x.info.Namespace != ""
		if x.subresource != nil {
			route.Subresource = x.subresource.Name
		}
	}
	code := x.ctx.Response.StatusCode()
	if x.state == stateHijacked || x.info.LongRunning() && (x.state == stateForwarded || x.state == stateCut) {
		s.requestMetrics.Count(route, code)
		return
	}
	s.requestMetrics.CountTimed(route, code, time.Since(x.start))
}

// registerMetrics lists what the server tells about itself.
func (s *Server) registerMetrics() {
	f := &s.ownMetrics
	inFlight := f.Add("apiserver_current_inflight_requests", "gauge", "Requests that are being answered, by their sort.")
	inFlight.Func(`request_kind="readOnly"`, func() float64 { return float64(s.limiters.readOnly.InFlight()) })
	inFlight.Func(`request_kind="mutating"`, func() float64 { return float64(s.limiters.mutating.InFlight()) })
	f.Add("troupe_response_bytes", "gauge", "Memory of large answers that are being written, beside the objects.").
		Func("", func() float64 { return float64(s.responseBudget.Used()) })
	f.Add("troupe_encoded_objects_bytes", "gauge", "Memory of objects that are kept in other encodings than JSON, their JSON included.").
		Func("", func() float64 { _, bytes := s.encoder.Forms.Size(); return float64(bytes) })
	f.Add("troupe_encoded_objects", "gauge", "Other encodings than JSON in which objects are kept.").
		Func("", func() float64 { n, _ := s.encoder.Forms.Size(); return float64(n) })
	longRunning := f.Add("apiserver_longrunning_requests", "gauge", "Watches, and requests to other servers, that are open.")
	longRunning.Func(`verb="WATCH"`, func() float64 { return float64(s.limiters.openWatches.Load()) })
	longRunning.Func(`verb="CONNECT"`, func() float64 { return float64(s.limiters.openProxied.Load()) })
	f.Add("apiserver_tls_handshake_errors_total", "counter", "Handshakes of TLS that have failed.").
		Func("", func() float64 { return float64(s.connections.Stats().HandshakeErrors) })
	s.registerConnectionMetrics(f)
	s.memoryRefused = f.Add("troupe_memory_refused_total", "counter", "Requests that were refused because memory was short.").Counter("")
}

// registerConnectionMetrics lists the series of connections and of the bodies that they send.
func (s *Server) registerConnectionMetrics(f *metrics.Families) {
	open := f.Add("troupe_connections", "gauge", "Connections that are open: those that have sent a whole request, and those that have not.")
	open.Func(`state="settled"`, func() float64 { c := s.connections.Stats(); return float64(c.Open - c.New) })
	open.Func(`state="new"`, func() float64 { return float64(s.connections.Stats().New) })
	f.Add("troupe_connections_waiting", "gauge", "Connections on which something has come, and that wait until other clients have had their turn.").
		Func("", func() float64 { return float64(s.connections.Stats().Waiting) })
	f.Add("troupe_connections_limit", "gauge", "Connections that may be open.").
		Func("", func() float64 { return float64(s.connections.Stats().Limit) })
	f.Add("troupe_connections_accepted_total", "counter", "Connections that were let in, each with a handshake.").
		Func("", func() float64 { return float64(s.connections.Stats().Accepted) })
	refused := f.Add("troupe_connections_refused_total", "counter", "Connections that were not let in, or closed to let others in, because there were too many.")
	refused.Func(`reason="full"`, func() float64 { return float64(s.connections.Stats().Refused) })
	refused.Func(`reason="oldest"`, func() float64 { return float64(s.connections.Stats().Evicted) })
	f.Add("troupe_accept_errors_total", "counter", "Attempts to accept a connection that have failed.").
		Func("", func() float64 { return float64(s.connections.Stats().AcceptErrors) })
	f.Add("troupe_request_body_bytes", "gauge", "Memory that bodies of requests hold, beyond what each has for nothing.").
		Func("", func() float64 { return float64(s.bodyBudget.Used()) })
}

const typeMetrics = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

// writeMetrics answers /metrics.
func (s *Server) writeMetrics(x *requestContext) error {
	var b bytes.Buffer
	s.requestMetrics.WritePrometheus(&b)
	s.ownMetrics.WritePrometheus(&b)
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
