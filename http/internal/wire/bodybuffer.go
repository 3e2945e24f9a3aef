package wire

import (
	"sync"

	"github.com/troupe-api/troupe/http/internal/apierrors"
)

// initialBodySize is the first size of a body buffer, maxPooledBody the largest that is pooled.
const (
	initialBodySize = 4 << 10
	maxPooledBody   = 64 << 10
)

var bodyBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, initialBodySize)
	return &b
}}

// grow makes room for more of the body. Its size follows what was received, not what was announced.
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

// reserve acquires n bytes of the budget.
func (in *requestBody) reserve(n int64) bool {
	if !in.limits.Budget.TryAcquire(n, in.limits.System) {
		return false
	}
	in.reserved += n
	return true
}

// recycle pools the buffer unless it is too large.
func (in *requestBody) recycle() {
	if b := in.buf; b != nil && cap(*b) <= maxPooledBody {
		*b = (*b)[:0]
		bodyBuffers.Put(b)
	}
	in.buf = nil
}

// release returns the buffer and its budget.
func (in *requestBody) release() {
	if in.reserved != 0 {
		in.limits.Budget.Release(in.reserved)
	}
	in.recycle()
	*in = requestBody{}
}
