package http

import (
	"encoding/json"
	"errors"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/faultinjection"
)

// faultHeader names the rule of an injected fault. faultAnnotation does so in the audit log.
const (
	faultHeader     = "Troupe-Injected-Fault"
	faultAnnotation = "troupe/injected-fault"
)

// routeWithFault routes a request, unless a rule selects it for a fault.
func (s *Server) routeWithFault(x *requestContext) error {
	f := s.opts.Faults.Choose(&faultinjection.Request{Attributes: &x.attributes, UserAgent: string(x.ctx.UserAgent()), AcceptsStale: x.acceptsStale()})
	if f == nil {
		return s.route(x)
	}
	x.annotate(faultAnnotation, f.Name+": "+string(f.Effect))
	x.setHeader(faultHeader, f.Name)
	if err := f.Wait(x.deadlineCtx); err != nil {
		return err
	}
	watchEnds := x.info.Verb == "watch" && (f.Effect == faultinjection.Drop && f.Events > 0 || f.Effect == faultinjection.EndWatch || f.Effect == faultinjection.ExpireWatch)
	switch {
	case f.AfterCommit:
		return s.failAfterCommit(x, f)
	case watchEnds, f.Effect == faultinjection.Stale:
		x.fault = f
		return s.route(x)
	case f.Effect == faultinjection.Drop:
		x.ctx.SetStatusCode(500) // for the audit and metrics
		x.conn.SetCut()
		return nil
	}
	if status := f.Status(&x.attributes); status != nil {
		return status
	}
	return s.route(x)
}

// acceptsStale reports whether a read names a resourceVersion that is a minimum.
func (x *requestContext) acceptsStale() bool {
	q := x.target.Query
	version, match := q.Get("resourceVersion"), q.Get("resourceVersionMatch")
	return version != "" && x.info.Subresource == "" && q.Get("continue") == "" &&
		(version == "0" || x.info.Verb == "get" || match == "NotOlderThan" || match == "" && q.Get("limit") == "")
}

// failAfterCommit performs a write and discards its response. A write that fails keeps its error.
func (s *Server) failAfterCommit(x *requestContext, f *faultinjection.Fault) error {
	if err := s.route(x); err != nil || x.state >= stateForwarded {
		return err
	}
	if f.Effect == faultinjection.Drop {
		x.conn.SetCut()
		return nil
	}
	x.ctx.Response.Reset()
	s.setCommonHeaders(x)
	x.setHeader(faultHeader, f.Name)
	return f.Status(&x.attributes)
}

// getObject reads an object. A fault makes it read an older state if the history still has one that
// the client accepts.
func (s *Server) getObject(x *requestContext, r request.Get) (*meta.Object, error) {
	if version, ok := s.staleVersion(x, r.Version); ok && !r.Exact {
		old := r
		old.Version, old.Exact, old.Stale = version, true, false
		if o, err := s.opts.Store.Get(x.deadlineCtx, old); !isExpired(err) {
			return o, err
		}
	}
	return s.opts.Store.Get(x.deadlineCtx, r)
}

// listObjects is like getObject for a list.
func (s *Server) listObjects(x *requestContext, l request.List) (request.ListResult, error) {
	if version, ok := s.staleVersion(x, l.Version); ok && (l.Match == request.MatchAny || l.Match == request.MatchNotOlderThan) {
		old := l
		old.Match, old.Version = request.MatchExact, version
		if listing, err := s.opts.Store.List(x.deadlineCtx, old); !isExpired(err) {
			return listing, err
		}
	}
	return s.opts.Store.List(x.deadlineCtx, l)
}

// staleVersion returns the version that a fault makes a read return. ok is false without a fault,
// or if that version precedes the minimum.
func (s *Server) staleVersion(x *requestContext, minimum uint64) (version uint64, ok bool) {
	if x.fault == nil {
		return 0, false
	}
	newest, behind := s.opts.Store.Version(), uint64(max(x.fault.Versions, 1))
	return newest - min(newest, behind), newest > behind && newest-behind >= minimum
}

func isExpired(err error) bool {
	status, ok := errors.AsType[*meta.Status](err)
	return ok && status.Reason == meta.ReasonExpired
}

// A faultySink ends a watch after a number of events.
type faultySink struct {
	*stream.Watch
	left int
	end  func()
}

var errInjected = errors.New("an injected fault ends the watch")

func (f *faultySink) Events(events []request.Event) error {
	if len(events) < f.left {
		f.left -= len(events)
		return f.Watch.Events(events)
	}
	if f.left > 0 {
		if err := f.Watch.Events(events[:f.left]); err != nil {
			return err
		}
	}
	f.end()
	return errInjected
}

// faultyWatch returns the sink of a watch to end, and an error if it ends at once.
func (x *requestContext) faultyWatch(w *stream.Watch) (request.Sink, error) {
	f := x.fault
	if f == nil {
		return w, nil
	}
	expired := f.Status(&x.attributes)
	if f.Events == 0 && expired != nil {
		return w, expired
	}
	if f.Events == 0 {
		w.Stop()
	}
	sink := &faultySink{Watch: w, left: f.Events, end: func() {}}
	switch f.Effect {
	case faultinjection.ExpireWatch:
		sink.end = func() { w.Revoke(expired) }
	case faultinjection.Drop:
		sink.end = w.ForceClose
	}
	return sink, nil
}

const faultsPath = "/debug/faults"

// serveFaults reads the rules of injected faults, or replaces them with those in the body.
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
