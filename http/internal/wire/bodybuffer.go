package wire

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

// grow makes room for more of a body where there is none. The room is a multiple of what has
// come, never what has only been announced.
func (in *requestBody) grow() error {
	if in.buf == nil {
		b := bodyBuffers.Get().(*[]byte)
		if !in.reserve(int64(cap(*b))) {
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
	size := min(4*int64(cap(b)), in.limits.Max)
	if !in.chunked {
		size = min(size, int64(len(b))+in.remaining)
	}
	if !in.reserve(size - int64(cap(b))) {
		return apierrors.TooManyRequests()
	}
	wider := append(make([]byte, 0, size), b...)
	in.recycle()
	in.buf = &wider
	return nil
}

// reserve takes memory for the body from the budget, if there is any left.
func (in *requestBody) reserve(n int64) bool {
	if !in.limits.Budget.TryAcquire(n, in.limits.System) {
		return false
	}
	in.reserved += n
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
func (in *requestBody) release() {
	if in.reserved != 0 {
		in.limits.Budget.Release(in.reserved)
	}
	in.recycle()
	*in = requestBody{}
}
