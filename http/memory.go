package http

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// A Gauge tells how much memory is left.
type Gauge interface {
	// Scarce says that there is so little that only what is small, or makes room, is answered.
	Scarce() bool
	// Room is how many bytes the work of all requests may take together.
	Room() int64
}

// workFactor is how many bytes the work of a write takes for each byte of its body and of the
// object that it changes: both as trees, the object encoded, journaled and answered.
const workFactor = 12

// smallWork is what a part of the system may need where memory is scarce, and smallList the most
// objects that it may list.
const (
	smallWork = 1 << 20
	smallList = 500
)

// reserveWork lets a request begin if there is memory for its work, until releaseWork. Of a body that
// is still on its way nothing is set aside: it may never come.
func (s *Server) reserveWork(x *exchange) error {
	gauge := s.opts.Gauge
	if gauge == nil || x.kind.Virtual() {
		return nil
	}
	work := s.work(x)
	if gauge.Scarce() && !s.isServedWhenScarce(x, work) {
		s.metrics.scarce.Add(1)
		return shortOfMemory()
	}
	if x.conn.arriving() {
		return nil
	}
	return s.setAside(x, work)
}

// reserveWorkOfBody is reserveWork of a request whose body has come meanwhile.
func (s *Server) reserveWorkOfBody(x *exchange) error {
	if s.opts.Gauge == nil || x.kind.Virtual() {
		return nil
	}
	return s.setAside(x, s.work(x))
}

// setAside takes memory for the work of a request, if there is as much. Whoever is alone may go on,
// or the largest object could never be written.
func (s *Server) setAside(x *exchange, work int64) error {
	if all := s.working.Add(work); work > 0 && all > work && all > s.opts.Gauge.Room() {
		s.working.Add(-work)
		s.metrics.scarce.Add(1)
		return shortOfMemory()
	}
	x.work = work
	return nil
}

// releaseWork ends the work of a request.
func (s *Server) releaseWork(x *exchange) {
	s.working.Add(-x.work)
	x.work = 0
}

// work is how many bytes a request is expected to need; 0 for a read, whose answers have a bound
// of their own.
func (s *Server) work(x *exchange) int64 {
	if x.method == "GET" || x.method == "HEAD" {
		return 0
	}
	length := int64(x.ctx.Request.Header.ContentLength())
	if in := &x.conn.incoming; in.over {
		length = in.size()
	} else if length < 0 && x.method != "DELETE" {
		length = int64(s.opts.Limits.MaxBody) // it is not told
	}
	if k := x.kind.Stored; k != nil && x.info.Name != "" {
		key := x.info.key(x.kind)
		if o, err := s.opts.Store.Get(x.wait, request.Get{Kind: k, Key: key}); err == nil {
			length += int64(len(o.JSON))
		}
	}
	return max(length, 0) * workFactor
}

// isServedWhenScarce tells what is answered where memory is scarce: an object to everybody; to
// parts of the system also deletes, lists of few, watches, and writes of little.
func (s *Server) isServedWhenScarce(x *exchange, work int64) bool {
	if x.info.Verb == "get" {
		return true
	}
	if !s.limiters.system(x.user) {
		return false
	}
	switch x.info.Verb {
	case "delete", "deletecollection", "watch":
		return true
	case "list":
		limit, err := x.query.number("limit")
		return err == nil && limit > 0 && limit <= smallList
	}
	return work <= smallWork && s.opts.Gauge.Room() > smallWork
}

func shortOfMemory() *meta.Status {
	return &meta.Status{
		Code: 429, Reason: meta.ReasonTooManyRequests, Details: &meta.Details{RetryAfterSeconds: 1},
		Message: "the server is short of memory and has asked us to try again later",
	}
}
