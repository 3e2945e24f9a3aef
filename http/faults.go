package http

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/faultinjection"
)

// Both contain the name of the rule that injected the fault.
const (
	faultHeader     = "Troupe-Injected-Fault"
	faultAnnotation = "troupe/injected-fault"
)

// routeWithFault routes a request, and injects a fault if a rule selects the request.
func (s *Server) routeWithFault(x *requestContext) error {
	f := s.opts.Faults.Choose(&faultinjection.Request{Attributes: &x.attributes, UserAgent: string(x.ctx.UserAgent()), AcceptsStale: x.acceptsStale()})
	if f == nil {
		return s.route(x)
	}
	x.annotate(faultAnnotation, f.Name+": "+string(f.Effect))
	x.setHeader(faultHeader, f.Name)
	select {
	case <-time.After(time.Duration(f.LatencyMilliseconds) * time.Millisecond):
	case <-x.deadlineCtx.Done():
		return x.deadlineCtx.Err()
	}
	if f.AfterCommit { // a write that fails keeps its error
		if err := s.route(x); err != nil || x.state >= stateForwarded {
			return err
		}
	}
	status := f.Status(&x.attributes)
	switch {
	case f.Effect == faultinjection.Drop && (f.Events == 0 || x.info.Verb != "watch"):
		if !f.AfterCommit {
			x.ctx.SetStatusCode(500) // for the audit and metrics
		}
		x.conn.SetCut()
		return nil
	case f.AfterCommit:
		x.ctx.Response.Reset()
		s.setCommonHeaders(x)
		x.setHeader(faultHeader, f.Name)
		return status
	case status != nil && f.Effect != faultinjection.ExpireWatch:
		return status
	case f.Effect != faultinjection.Delay:
		x.fault = f
	}
	return s.route(x)
}

// acceptsStale reports whether a read accepts any state since its resourceVersion.
func (x *requestContext) acceptsStale() bool {
	q := x.target.Query
	version, match := q.Get("resourceVersion"), q.Get("resourceVersionMatch")
	return version != "" && x.info.Subresource == "" && q.Get("continue") == "" &&
		(version == "0" || match == "NotOlderThan" || match == "" && (x.info.Verb == "get" || q.Get("limit") == ""))
}

// getObject reads an object. A fault makes it return an older state, if the history still contains
// one that the client accepts.
func (s *Server) getObject(x *requestContext, r request.Get) (*meta.Object, error) {
	old := r
	if old.Version, old.Exact = s.staleVersion(x, r.Version); old.Exact && !r.Exact {
		old.Stale = false
		if o, err := s.opts.Store.Get(x.deadlineCtx, old); !meta.HasReason(err, meta.ReasonExpired) {
			return o, err
		}
	}
	return s.opts.Store.Get(x.deadlineCtx, r)
}

// listObjects is like getObject for a list.
func (s *Server) listObjects(x *requestContext, l request.List) (request.ListResult, error) {
	if version, ok := s.staleVersion(x, l.Version); ok {
		old := l
		old.Match, old.Version = request.MatchExact, version
		if listing, err := s.opts.Store.List(x.deadlineCtx, old); !meta.HasReason(err, meta.ReasonExpired) {
			return listing, err
		}
	}
	return s.opts.Store.List(x.deadlineCtx, l)
}

// staleVersion returns the version of the stale state that a fault selects for a read. ok is false
// without a fault, or if the version precedes the minimum.
func (s *Server) staleVersion(x *requestContext, minimum uint64) (version uint64, ok bool) {
	if x.fault == nil {
		return 0, false
	}
	stale := int64(s.opts.Store.Version()) - int64(max(x.fault.Versions, 1))
	return uint64(stale), stale > 0 && uint64(stale) >= minimum
}

// A faultySink ends a watch after a number of events.
type faultySink struct {
	*stream.Watch
	left int
	end  func()
}

var errInjected = errors.New("an injected fault ends the watch")

func (f *faultySink) Events(events []request.Event) error {
	n := min(f.left, len(events))
	f.left -= n
	if err := f.Watch.Events(events[:n]); err != nil || f.left > 0 {
		return err
	}
	f.end()
	return errInjected
}

// faultyWatch returns the sink of a watch, which injects a fault if one was selected. It returns an
// error if the watch must end immediately.
func (x *requestContext) faultyWatch(w *stream.Watch) (request.Sink, error) {
	f := x.fault
	if f == nil {
		return w, nil
	}
	expired := f.Status(&x.attributes)
	if f.Events == 0 {
		if expired != nil {
			return w, expired
		}
		w.Stop()
	}
	end := w.Stop
	switch f.Effect {
	case faultinjection.ExpireWatch:
		end = func() { w.Revoke(expired) }
	case faultinjection.Drop:
		end = w.ForceClose
	}
	return &faultySink{w, f.Events, end}, nil
}

const faultsPath = "/debug/faults"

// serveFaults returns the fault injection rules. A PUT first replaces them with the rules in the
// body.
func (s *Server) serveFaults(x *requestContext) error {
	if x.info.Method == "PUT" {
		body, err := x.conn.ReadBody(maxReviewBytes, x.permit.Reserved)
		if err != nil {
			return tooManyRequests(err)
		}
		if err := s.opts.Faults.SetYAML(body); err != nil {
			return meta.NewBadRequest(err.Error())
		}
	}
	state, err := json.Marshal(s.opts.Faults.State())
	if err == nil {
		s.writeRaw(x, negotiate.TypeJSON, state)
	}
	return err
}
