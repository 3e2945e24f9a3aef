package http

import (
	"bytes"
	"io"
	"time"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/internal/metrics"
)

// countRequest counts the request and its response. It counts a watch when it starts and ignores
// its duration. Clients choose watch durations, which would dominate the statistics.
func (s *Server) countRequest(x *requestContext) {
	route := countedRoute{verb: x.info.Verb, code: x.ctx.Response.StatusCode()}
	if x.subresource != nil && x.subresource.Connects {
		route.verb = "connect"
	}
	if x.kind != nil {
		route.group, route.version, route.resource = x.kind.Group, x.kind.Version, x.kind.Resource
		route.collection, route.namespaced = x.info.Name == "", x.info.Namespace != ""
		if x.subresource != nil {
			route.subresource = x.subresource.Name
		}
	}
	route.timed = x.state != stateHijacked && (!x.info.LongRunning() || x.state != stateForwarded && x.state != stateCut)
	s.requestMetrics.count(route, time.Since(x.start))
	if x.span != nil {
		x.endSpan(route.code)
	}
}

func (s *Server) writeOwnMetrics(w io.Writer) {
	connections := s.connections.Stats()
	encoded, encodedBytes := s.encoder.Forms.Size()
	metrics.Write(w,
		metrics.GaugeValue("apiserver_current_inflight_requests", "Requests in flight, by kind.", metrics.Samples{
			`request_kind="mutating"`: s.ledger.Used(limits.Writes), `request_kind="readOnly"`: s.ledger.Used(limits.Reads)}),
		metrics.GaugeValue("troupe_response_bytes", "Memory of large responses being written.", s.ledger.Used(limits.ResponseBytes)),
		metrics.GaugeValue("troupe_encoded_objects_bytes", "Memory of objects with cached encodings, including their JSON.", encodedBytes),
		metrics.GaugeValue("troupe_encoded_objects", "Cached encodings of objects other than JSON.", encoded),
		metrics.GaugeValue("apiserver_longrunning_requests", "Open watches and proxied connections.", metrics.Samples{
			`verb="CONNECT"`: s.ledger.Used(limits.Upgrades), `verb="WATCH"`: s.ledger.Used(limits.Watches)}),
		metrics.CounterValue("apiserver_tls_handshake_errors_total", "Failed TLS handshakes.", connections.HandshakeErrors),
		metrics.GaugeValue("troupe_connections", "Open connections, by whether they have sent a whole request.", metrics.Samples{
			`state="new"`: connections.New, `state="settled"`: connections.Open - connections.New}),
		metrics.GaugeValue("troupe_connections_waiting", "Connections with input that wait to be served.", connections.Waiting),
		metrics.GaugeValue("troupe_connections_limit", "Maximum number of connections.", connections.Limit),
		metrics.CounterValue("troupe_connections_accepted_total", "Accepted connections.", connections.Accepted),
		metrics.CounterValue("troupe_connections_refused_total", "Connections rejected or evicted because of the limit.", metrics.Samples{
			`reason="full"`: connections.Refused, `reason="oldest"`: connections.Evicted}),
		metrics.CounterValue("troupe_accept_errors_total", "Failures to accept a connection.", connections.AcceptErrors),
		metrics.GaugeValue("troupe_request_body_bytes", "Memory of request bodies.", s.ledger.Used(limits.RequestBytes)),
		metrics.CounterValue("troupe_limit_rejections_total", "Requests and connections rejected by a limit, by resource and reason: share, capacity, or reclaimed for another user.", s.ledger.Rejections()),
		metrics.CounterValue("troupe_memory_refused_total", "Requests rejected because memory was scarce.", s.memoryRefused.Get()),
	)
}

const typeMetrics = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

func (s *Server) writeMetrics(x *requestContext) error {
	var b bytes.Buffer
	s.requestMetrics.write(&b)
	s.writeOwnMetrics(&b)
	if s.opts.Audit != nil {
		s.opts.Audit.WriteMetrics(&b)
	}
	if s.opts.WriteMetrics != nil {
		s.opts.WriteMetrics(&b)
	}
	x.setHeader("X-Content-Type-Options", "nosniff")
	s.writeRaw(x, typeMetrics, b.Bytes())
	return nil
}
