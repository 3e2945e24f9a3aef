package http

import (
	"bytes"
	"io"
	"time"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/internal/metrics"
)

// countRequest counts the request with its response. A watch is counted at its start and not timed:
// its duration is the client's choice, and would dominate the statistics.
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
}

func (s *Server) writeOwnMetrics(w io.Writer) {
	connections := s.connections.Stats()
	encoded, encodedBytes := s.encoder.Forms.Size()
	metrics.Write(w,
		metrics.GaugeValue("apiserver_current_inflight_requests", "Requests that are being answered, by their sort.", metrics.Samples{
			`request_kind="mutating"`: s.ledger.Used(limits.Writes), `request_kind="readOnly"`: s.ledger.Used(limits.Reads)}),
		metrics.GaugeValue("troupe_response_bytes", "Memory of large answers that are being written, beside the objects.", s.ledger.Used(limits.ResponseBytes)),
		metrics.GaugeValue("troupe_encoded_objects_bytes", "Memory of objects that are kept in other encodings than JSON, their JSON included.", encodedBytes),
		metrics.GaugeValue("troupe_encoded_objects", "Other encodings than JSON in which objects are kept.", encoded),
		metrics.GaugeValue("apiserver_longrunning_requests", "Watches, and requests to other servers, that are open.", metrics.Samples{
			`verb="CONNECT"`: s.ledger.Used(limits.Upgrades), `verb="WATCH"`: s.ledger.Used(limits.Watches)}),
		metrics.CounterValue("apiserver_tls_handshake_errors_total", "Handshakes of TLS that have failed.", connections.HandshakeErrors),
		metrics.GaugeValue("troupe_connections", "Connections that are open: those that have sent a whole request, and those that have not.", metrics.Samples{
			`state="new"`: connections.New, `state="settled"`: connections.Open - connections.New}),
		metrics.GaugeValue("troupe_connections_waiting", "Connections on which something has come, and that wait until other clients have had their turn.", connections.Waiting),
		metrics.GaugeValue("troupe_connections_limit", "Connections that may be open.", connections.Limit),
		metrics.CounterValue("troupe_connections_accepted_total", "Connections that were let in, each with a handshake.", connections.Accepted),
		metrics.CounterValue("troupe_connections_refused_total", "Connections that were not let in, or closed to let others in, because there were too many.", metrics.Samples{
			`reason="full"`: connections.Refused, `reason="oldest"`: connections.Evicted}),
		metrics.CounterValue("troupe_accept_errors_total", "Attempts to accept a connection that have failed.", connections.AcceptErrors),
		metrics.GaugeValue("troupe_request_body_bytes", "Memory that bodies of requests hold, beyond what each has for nothing.", s.ledger.Used(limits.RequestBytes)),
		metrics.CounterValue("troupe_limit_rejections_total", "Requests and connections rejected by a limit: by the share of their user or address, or because all was in use.", s.ledger.Rejections()),
		metrics.CounterValue("troupe_memory_refused_total", "Requests that were refused because memory was short.", s.memoryRefused.Get()),
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
