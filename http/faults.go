package http

import (
	"encoding/json"
	"errors"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/params"
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

// staleList returns a list from an older state. ok is false if the client does not accept it, or if
// the history no longer has it.
func (s *Server) staleList(x *requestContext, l request.List) (listing request.ListResult, ok bool) {
	newest, behind := s.opts.Store.Version(), uint64(max(x.fault.Versions, 1))
	if l.Match != request.MatchAny && l.Match != request.MatchNotOlderThan || newest <= behind || newest-behind < l.Version {
		return listing, false
	}
	l.Match, l.Version = request.MatchExact, newest-behind
	listing, err := s.opts.Store.List(x.deadlineCtx, l)
	return listing, err == nil
}

// staleGet returns an object from an older state, or nil if it did not exist then.
func (s *Server) staleGet(x *requestContext, version uint64) (obj *meta.Object, ok bool) {
	l, err := new(params.List).Request(x.kind, &x.info)
	if err == nil {
		l.Fields, err = new(params.List).SelectName(x.kind, x.info.Name)
	}
	l.Match, l.Version = request.MatchNotOlderThan, version
	listing, ok := s.staleList(x, l)
	if err != nil || !ok || len(listing.Items) == 0 {
		return nil, ok && err == nil
	}
	items, err := listing.Form.Convert(x.deadlineCtx, listing.Items)
	if err != nil {
		return nil, false
	}
	return items[0], true
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
