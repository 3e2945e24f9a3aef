package http

import (
	"errors"
	"io"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/flowcontrol"
)

// flowHeaders are the names of the headers that tell a client how its request was classified. They hold uids, since
// names would show how operators value their users.
type flowHeaders struct{ schema, level string }

func newFlowHeaders(n *meta.Naming) flowHeaders {
	return flowHeaders{n.Translate("X-Platform-Pf-Flowschema-Uid"), n.Translate("X-Platform-Pf-Prioritylevel-Uid")}
}

// set gives an answer the headers. A schema or a level that does not exist as an object has no uid.
func (h flowHeaders) set(x *requestContext, schema, level string) {
	if schema != "" {
		x.ctx.Response.Header.SetCanonical([]byte(h.schema), []byte(schema))
	}
	if level != "" {
		x.ctx.Response.Header.SetCanonical([]byte(h.level), []byte(level))
	}
}

// waitDivisor is which part of its time a request may wait for seats.
const waitDivisor = 4

// maxSeatWait bounds that for requests with much time.
const maxSeatWait = time.Minute

// acquireSeats waits until flow control lets the request in. Where there is none it does nothing, and for what goes on without
// a deadline neither: that would occupy seats forever. Watches occupy them until they run.
func (s *Server) acquireSeats(x *requestContext) error {
	c := s.opts.FlowControl
	if c == nil || x.outlasts() && x.info.Verb != "watch" {
		return nil
	}
	total, _ := x.deadlineCtx.Deadline()
	longest := min(total.Sub(x.start)/waitDivisor, maxSeatWait)
	r, err := c.Admit(x.deadlineCtx, &x.attributes, s.listing(x), longest-time.Since(x.start))
	var refusal *flowcontrol.RejectedError
	switch {
	case errors.As(err, &refusal):
		s.flowHeaders.set(x, refusal.FlowSchemaUID, refusal.PriorityLevelUID)
		status := apierrors.TooManyRequests()
		status.Details.RetryAfterSeconds = refusal.RetryAfter
		return status
	case err != nil:
		return err
	}
	s.flowHeaders.set(x, r.FlowSchemaUID(), r.PriorityLevelUID())
	x.permit.HoldSeats(r)
	return nil
}

// listing is what a list, or a watch that begins with one, has to look at; nil for anything else, such as a list
// that its selector confines to one object.
func (s *Server) listing(x *requestContext) *flowcontrol.Listing {
	if x.info.Verb != "list" && x.info.Verb != "watch" || x.attributes.Name != "" {
		return nil
	}
	kind := s.opts.Catalog.Kind(x.info.Group, x.info.Version, x.info.Resource)
	if kind == nil || kind.Virtual() {
		return nil // it is not here, or of another server
	}
	q := x.target.Query
	version := q.Get("resourceVersion")
	if x.info.Verb == "watch" && !q.Flag("sendInitialEvents") && version != "" && version != "0" {
		return nil // only what comes
	}
	limit, _ := q.Number("limit") // a fault is told later
	return &flowcontrol.Listing{
		Stored: s.opts.Store.Count(kind, x.info.Namespace), Limit: int(min(max(limit, 0), 1<<31)),
		Selects:    q.Get("labelSelector") != "" || q.Get("fieldSelector") != "",
		Historical: isHistorical(x.info.Verb, q, version, limit),
	}
}

// isHistorical tells whether a list is of an older version than the newest.
func isHistorical(verb string, q requestinfo.Query, version string, limit int64) bool {
	if verb != "list" {
		return false
	}
	return q.Get("continue") != "" || version != "" && version != "0" && (limit > 0 || q.Get("resourceVersionMatch") == "Exact")
}

// dumpPath is where tables of the state of flow control are.
const dumpPath = "/debug/api_priority_and_fairness/"

// serveDump answers a table of the state of flow control.
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
