package http

import (
	"bytes"
	"time"

	"github.com/troupe-api/troupe/http/internal/metrics"
)

// countRequest counts the request when its answer is decided.
func (s *Server) countRequest(x *requestContext) {
	route := metrics.Route{Kind: x.kind, Verb: x.info.Verb}
	if x.kind != nil {
		if x.kind.Original != nil { // a series goes on when its kind is defined anew
			route.Kind = x.kind.Original
		}
		route.Collection, route.Namespaced = x.info.Name == "", x.info.Namespace != ""
		if x.subresource != nil {
			route.Subresource = x.subresource.Name
		}
	}
	code := x.ctx.Response.StatusCode()
	if x.hijacked {
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
	f.Add("apiserver_longrunning_requests", "gauge", "Watches that are open.").
		Func(`verb="WATCH"`, func() float64 { return float64(s.limiters.openWatches.Load()) })
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
	f.Add("troupe_connections_limit", "gauge", "Connections that may be open.").
		Func("", func() float64 { return float64(s.connections.Stats().Limit) })
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
