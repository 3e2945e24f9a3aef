package http

import (
	"sync"
	"sync/atomic"
)

// The sizes of the memory for bodies: what every body gets at first, and what is used again.
const (
	firstBody = 4 << 10
	keptBody  = 64 << 10
)

// bodyBuffers are those that wait to be used.
var bodyBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, firstBody)
	return &b
}}

// A budget is how many bytes all bodies, or all large answers that are being written, may take at a
// time. Parts of the system may have somewhat more than others.
type budget struct {
	limit int64
	used  atomic.Int64
}

// take takes n bytes, or tells that there are not as many. What is larger than the whole budget has
// to be the only one.
func (b *budget) take(n int64, system bool) bool {
	limit := b.limit
	if system {
		limit += limit / reserved
	}
	if used := b.used.Add(n); used > limit && used > n {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *budget) give(n int64) { b.used.Add(-n) }

// grow makes room for more of a body where there is none. The room is a multiple of what has
// come, never what has only been announced.
func (s *Server) grow(x *exchange, most int64) error {
	in := &x.conn.incoming
	if in.body == nil {
		b := bodyBuffers.Get().(*[]byte)
		if !s.pay(x, int64(cap(*b))) {
			bodyBuffers.Put(b)
			return tooManyRequests()
		}
		in.body = b
		return nil
	}
	b := *in.body
	if len(b) < cap(b) {
		return nil
	}
	size := min(4*int64(cap(b)), most)
	if !in.chunked {
		size = min(size, int64(len(b))+in.left)
	}
	if !s.pay(x, size-int64(cap(b))) {
		return tooManyRequests()
	}
	wider := append(make([]byte, 0, size), b...)
	in.putBack()
	in.body = &wider
	return nil
}

// pay takes memory for the body of a request from the budget, if there is any left.
func (s *Server) pay(x *exchange, n int64) bool {
	if !s.bodies.take(n, s.limiters.system(x.user)) {
		return false
	}
	x.conn.incoming.taken += n
	return true
}

// putBack gives the memory of the body to others, if it is not too much for them.
func (in *incoming) putBack() {
	if b := in.body; b != nil && cap(*b) <= keptBody {
		*b = (*b)[:0]
		bodyBuffers.Put(b)
	}
	in.body = nil
}

// release gives the memory of a body back.
func (in *incoming) release(s *Server) {
	if in.taken != 0 {
		s.bodies.give(in.taken)
	}
	in.putBack()
	*in = incoming{}
}
