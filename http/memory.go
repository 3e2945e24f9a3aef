package http

import (
	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// A MemoryMonitor reports the available memory.
type MemoryMonitor interface {
	// UnderPressure reports whether memory is short. The server then admits only small reads and
	// requests that free memory.
	UnderPressure() bool
	// Available returns the bytes that all requests together may use.
	Available() int64
}

// workFactor is the memory that a write needs per byte of its body and object. Both are decoded
// into trees, and the object is encoded, journaled and returned.
const workFactor = 12

// cborFactor is the decoded size of a CBOR body relative to that of a JSON body.
const cborFactor = 3

// Under memory pressure, system components may still make writes that need at most
// maxWorkUnderPressure bytes, and list up to maxListUnderPressure objects.
const (
	maxWorkUnderPressure = 1 << 20
	maxListUnderPressure = 500
)

// reserveWork admits a request if enough memory is available for its work. It reserves nothing for
// a pending body, which may never arrive. Callers repeat the call once the body has arrived. It
// requires a MemoryMonitor.
func (s *Server) reserveWork(x *requestContext) error {
	if x.kind.Virtual() {
		return nil
	}
	work := s.estimateWork(x)
	if s.opts.MemoryMonitor.UnderPressure() && !s.allowedUnderPressure(x, work) {
		s.memoryRefused.Inc()
		return memoryPressure()
	}
	if x.conn.BodyPending() {
		return nil
	}
	return s.tryReserveWork(x, work)
}

// tryReserveWork reserves memory for a request. If no other request holds memory, it always admits
// the request. Otherwise, the largest objects could never be written.
func (s *Server) tryReserveWork(x *requestContext, work int64) error {
	if work == 0 {
		return nil
	}
	s.ledger.SetCapacity(limits.Memory, max(s.opts.MemoryMonitor.Available(), 1))
	if x.permit.TryAcquire(limits.Memory, work) != nil {
		s.memoryRefused.Inc()
		return memoryPressure()
	}
	return nil
}

// estimateWork estimates the memory that a write needs, in bytes. It includes the stored object,
// because even a small patch copies all of it. It returns 0 for a read, because responses have a
// separate limit.
func (s *Server) estimateWork(x *requestContext) int64 {
	if x.info.Method == "GET" || x.info.Method == "HEAD" {
		return 0
	}
	return max(s.bodySize(x)+s.storedSize(x), 0) * workFactor
}

// bodySize returns the size of the body in bytes. If the length is unknown, it returns the maximum,
// except for a delete, which rarely has a body.
func (s *Server) bodySize(x *requestContext) int64 {
	length := int64(x.ctx.Request.Header.ContentLength())
	if size, whole := x.conn.ReceivedBody(); whole {
		length = size
	} else if length < 0 && x.info.Method != "DELETE" {
		length = int64(s.opts.Limits.MaxRequestBodyBytes) // not announced
	}
	if s.opts.CBOR && length > 0 && s.bodyEncoding(x) == negotiate.CBOR {
		length *= cborFactor
	}
	return length
}

func (s *Server) storedSize(x *requestContext) int64 {
	k := x.kind.Stored
	if k == nil || x.info.Name == "" {
		return 0
	}
	o, err := s.opts.Store.Get(x.deadlineCtx, request.Get{Kind: k.Unconverted(), Key: x.info.Key(x.kind), Stale: true})
	if err != nil {
		return 0
	}
	return int64(len(o.JSON))
}

// allowedUnderPressure reports whether a request is allowed under memory pressure. All users may
// read single objects. Privileged users may also delete, make small writes, and list short pages.
// They may also watch, because a client would react to a rejected watch by listing all objects.
func (s *Server) allowedUnderPressure(x *requestContext, work int64) bool {
	if x.info.Verb == "get" {
		return true
	}
	if !x.permit.Reserved {
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

func (s *Server) reserveResponse(x *requestContext, n int64) error {
	if n <= response.MaxBuffered {
		return nil
	}
	if err := x.permit.TryAcquire(limits.ResponseBytes, n); err != nil {
		return tooManyRequests(err)
	}
	return nil
}

// reserveChange reserves memory for the response before the change, because it is too late to
// reject a completed change.
func (s *Server) reserveChange(x *requestContext) error {
	if represent.ObjectMemory(x.format, response.MaxBuffered+1) == 0 {
		return nil // the object is sent as stored
	}
	size := s.bodySize(x)
	if x.info.Method == "PATCH" || x.info.Method == "DELETE" {
		size += s.storedSize(x)
	}
	return s.reserveResponse(x, represent.ObjectMemory(x.format, int(size)))
}

// reserveObjectResponse reserves memory for encoding an object of size bytes. After a change, it
// raises the amount that reserveChange has estimated.
func (s *Server) reserveObjectResponse(x *requestContext, size int) error {
	room := represent.ObjectMemory(x.format, size)
	if x.info.Verb == "get" {
		return s.reserveResponse(x, room)
	}
	x.permit.Raise(limits.ResponseBytes, room)
	return nil
}
