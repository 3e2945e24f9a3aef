package http

import (
	"sync"

	"github.com/troupe-api/troupe/http/internal/apierrors"
)

// The sizes of the memory for bodies: what every body gets at first, and what is used again.
const (
	initialBodySize = 4 << 10
	maxPooledBody   = 64 << 10
)

// bodyBuffers are those that wait to be used.
var bodyBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, initialBodySize)
	return &b
}}

// growBody makes room for more of a body where there is none. The room is a multiple of what has
// come, never what has only been announced.
func (s *Server) growBody(x *requestContext, limit int64) error {
	in := &x.conn.body
	if in.buf == nil {
		b := bodyBuffers.Get().(*[]byte)
		if !s.reserveBody(x, int64(cap(*b))) {
			bodyBuffers.Put(b)
			return apierrors.TooManyRequests()
		}
		in.buf = b
		return nil
	}
	b := *in.buf
	if len(b) < cap(b) {
		return nil
	}
	size := min(4*int64(cap(b)), limit)
	if !in.chunked {
		size = min(size, int64(len(b))+in.remaining)
	}
	if !s.reserveBody(x, size-int64(cap(b))) {
		return apierrors.TooManyRequests()
	}
	wider := append(make([]byte, 0, size), b...)
	in.recycle()
	in.buf = &wider
	return nil
}

// reserveBody takes memory for the body of a request from the budget, if there is any left.
func (s *Server) reserveBody(x *requestContext, n int64) bool {
	if !s.bodyBudget.TryAcquire(n, s.limiters.isSystemUser(x.user)) {
		return false
	}
	x.conn.body.reserved += n
	return true
}

// recycle gives the memory of the body to others, if it is not too much for them.
func (in *requestBody) recycle() {
	if b := in.buf; b != nil && cap(*b) <= maxPooledBody {
		*b = (*b)[:0]
		bodyBuffers.Put(b)
	}
	in.buf = nil
}

// release gives the memory of a body back.
func (in *requestBody) release(s *Server) {
	if in.reserved != 0 {
		s.bodyBudget.Release(in.reserved)
	}
	in.recycle()
	*in = requestBody{}
}
