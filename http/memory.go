package http

import (
	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// A MemoryMonitor tells how much memory is left.
type MemoryMonitor interface {
	// UnderPressure says that there is so little that only small reads, and what frees memory, is answered.
	UnderPressure() bool
	// Available is how many bytes the work of all requests may take together.
	Available() int64
}

// workFactor is how many bytes the work of a write takes for each byte of its body and of the
// object that it changes: both exist as trees, and the object is encoded, journaled and answered.
const workFactor = 12

// cborFactor is how many times larger the tree of a body in CBOR may be than that of one in JSON.
const cborFactor = 3

// maxWorkUnderPressure is how many bytes a write of a part of the system may need where memory is scarce, and
// maxListUnderPressure how many objects it may list.
const (
	maxWorkUnderPressure = 1 << 20
	maxListUnderPressure = 500
)

// reserveWork lets a request begin if there is memory for its work, until releaseWork. Of a body that
// is still on its way nothing is set aside: it may never come.
func (s *Server) reserveWork(x *requestContext) error {
	gauge := s.opts.MemoryMonitor
	if gauge == nil || x.kind.Virtual() {
		return nil
	}
	work := s.estimateWork(x)
	if gauge.UnderPressure() && !s.allowedUnderPressure(x, work) {
		s.memoryRefused.Inc()
		return memoryPressure()
	}
	if x.conn.BodyPending() {
		return nil
	}
	return s.tryReserveWork(x, work)
}

// reserveWorkOfBody is reserveWork of a request whose body has come meanwhile.
func (s *Server) reserveWorkOfBody(x *requestContext) error {
	if s.opts.MemoryMonitor == nil || x.kind.Virtual() {
		return nil
	}
	return s.tryReserveWork(x, s.estimateWork(x))
}

// tryReserveWork takes memory for the work of a request, if there is as much. A request that is the only
// one may go on in any case, or the largest object could never be written.
//
// The bytes are added first and taken back on refusal, so that two requests cannot both see the same room without a
// lock.
func (s *Server) tryReserveWork(x *requestContext, work int64) error {
	if all := s.workBytes.Add(work); work > 0 && all > work && all > s.opts.MemoryMonitor.Available() {
		s.workBytes.Add(-work)
		s.memoryRefused.Inc()
		return memoryPressure()
	}
	x.workBytes = work
	return nil
}

// releaseWork ends the work of a request.
func (s *Server) releaseWork(x *requestContext) {
	s.workBytes.Add(-x.workBytes)
	x.workBytes = 0
}

// estimateWork is how many bytes a request is expected to need; 0 for a read, whose answers have a bound
// of their own.
//
// A length that was not announced counts as the largest, but for a delete, which mostly has no body. Of an update or a patch the stored object counts too: a
// patch of a few bytes copies all of it.
func (s *Server) estimateWork(x *requestContext) int64 {
	if x.info.Method == "GET" || x.info.Method == "HEAD" {
		return 0
	}
	length := int64(x.ctx.Request.Header.ContentLength())
	if size, whole := x.conn.ReceivedBody(); whole {
		length = size
	} else if length < 0 && x.info.Method != "DELETE" {
		length = int64(s.opts.Limits.MaxRequestBodyBytes) // it is not announced
	}
	if s.opts.CBOR && length > 0 && s.bodyEncoding(x) == negotiate.CBOR {
		length *= cborFactor
	}
	if k := x.kind.Stored; k != nil && x.info.Name != "" {
		key := x.info.Key(x.kind)
		if o, err := s.opts.Store.Get(x.deadlineCtx, request.Get{Kind: k.Unconverted(), Key: key, Stale: true}); err == nil {
			length += int64(len(o.JSON))
		}
	}
	return max(length, 0) * workFactor
}

// allowedUnderPressure tells what is answered where memory is scarce: reads of one
// object; of parts of the system also deletes, short lists, watches and small writes.
//
// Deletes are let through because they are what frees memory; a short list and a watch, because controllers that lose
// theirs would come back with long lists.
func (s *Server) allowedUnderPressure(x *requestContext, work int64) bool {
	if x.info.Verb == "get" {
		return true
	}
	if !s.limiters.isSystemUser(x.attributes.User) {
		return false
	}
	switch x.info.Verb {
	case "delete", "deletecollection", "watch":
		return true
	case "list":
		limit, err := x.target.Query.Number("limit")
		return err == nil && limit > 0 && limit <= maxListUnderPressure
	}
	return work <= maxWorkUnderPressure && s.opts.MemoryMonitor.Available() > maxWorkUnderPressure
}

func memoryPressure() *meta.Status {
	return &meta.Status{
		Code: 429, Reason: meta.ReasonTooManyRequests, Details: &meta.Details{RetryAfterSeconds: 1},
		Message: "the server is short of memory and has asked us to try again later",
	}
}

// reserveResponse takes bytes of memory for the answer, or refuses to make it.
func (s *Server) reserveResponse(x *requestContext, n int64) error {
	if n <= response.MaxBuffered {
		return nil
	}
	if !x.permit.TryReserve(s.responseBudget, n, s.limiters.isSystemUser(x.attributes.User)) {
		return apierrors.TooManyRequests()
	}
	return nil
}

// reserveObjectResponse takes the memory in which an object of that size is put into another encoding than
// it has in the store. The answer to a change is made in any case: it tells what has been done.
func (s *Server) reserveObjectResponse(x *requestContext, size int) error {
	room := represent.ObjectMemory(x.format, size)
	if room == 0 {
		return nil
	}
	if x.info.Verb == "get" {
		return s.reserveResponse(x, room)
	}
	x.permit.Reserve(s.responseBudget, room)
	return nil
}
