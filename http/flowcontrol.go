package http

import (
	"errors"
	"io"
	"time"

	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/policy/flowcontrol"
)

// flowHeaders holds the names of the response headers for a request's FlowSchema and priority
// level. Their values are UIDs, because names would reveal how operators rank users.
type flowHeaders struct{ schema, level string }

// waitDivisor limits the wait for seats to a fraction of the request's timeout, and maxSeatWait
// limits it absolutely.
const waitDivisor = 4

const maxSeatWait = time.Minute

// acquireSeats blocks until flow control admits the request. Long-running requests other than
// watches are exempt, because they would hold their seats until they end. A watch releases its
// seats once it runs.
func (s *Server) acquireSeats(x *requestContext) error {
	c := s.opts.FlowControl
	if c == nil || x.outlasts() && x.info.Verb != "watch" {
		return nil
	}
	total, _ := x.deadlineCtx.Deadline()
	longest := min(total.Sub(x.start)/waitDivisor, maxSeatWait)
	var listing *flowcontrol.Listing
	if (x.info.Verb == "list" || x.info.Verb == "watch") && x.attributes.Name == "" {
		listing = s.listing(x)
	}
	r, err := c.Admit(x.deadlineCtx, &x.attributes, &x.conn.flow, listing, longest-time.Since(x.start))
	schema, level := "", "" // none if they are not objects
	var refusal *flowcontrol.RejectedError
	switch {
	case err == nil:
		schema, level, x.permit.Seats = r.SchemaUID, r.LevelUID, r
	case errors.As(err, &refusal):
		schema, level, err = refusal.FlowSchemaUID, refusal.PriorityLevelUID, tooManyRequests(refusal)
	}
	if schema != "" {
		x.ctx.Response.Header.SetCanonical([]byte(s.flowHeaders.schema), []byte(schema))
	}
	if level != "" {
		x.ctx.Response.Header.SetCanonical([]byte(s.flowHeaders.level), []byte(level))
	}
	return err
}

// listing returns the properties from which flow control estimates the cost of a list, or of the
// initial events of a watch. It returns nil if the request reads no stored objects of this server.
func (s *Server) listing(x *requestContext) *flowcontrol.Listing {
	kind := s.opts.Catalog.Kind(x.info.Group, x.info.Version, x.info.Resource)
	if kind == nil || kind.Virtual() {
		return nil // aggregated or unknown
	}
	q := x.target.Query
	version := q.Get("resourceVersion")
	if x.info.Verb == "watch" && !q.Flag("sendInitialEvents") && version != "" && version != "0" {
		return nil // only future events
	}
	limit, _ := q.Number("limit") // errors are reported later
	return &flowcontrol.Listing{
		Stored: s.opts.Store.Count(kind, x.info.Namespace), Limit: int(min(max(limit, 0), 1<<31)),
		Selects:    q.Get("labelSelector") != "" || q.Get("fieldSelector") != "",
		Historical: isHistorical(x.info.Verb, q, version, limit),
	}
}

func isHistorical(verb string, q requestinfo.Query, version string, limit int64) bool {
	if verb != "list" {
		return false
	}
	return q.Get("continue") != "" || version != "" && version != "0" && (limit > 0 || q.Get("resourceVersionMatch") == "Exact")
}

const dumpPath = "/debug/api_priority_and_fairness/"

func (s *Server) serveDump(dump flowcontrol.Dump) func(*requestContext) error {
	return func(x *requestContext) error {
		details := x.target.Query.Get("includeRequestDetails") != ""
		x.setHeader("X-Content-Type-Options", "nosniff")
		s.setBodyStream(x, "text/plain; charset=utf-8", &response.Stream{Size: -1, Write: response.Buffered(func(w io.Writer) error {
			return dump(w, details)
		})})
		return nil
	}
}
