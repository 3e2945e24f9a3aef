package wire

import (
	"sync"

	"github.com/troupe-api/troupe/http/internal/limits"
)

// A body buffer starts with initialBodySize bytes. Buffers up to maxPooledBody bytes are pooled.
const (
	initialBodySize = 4 << 10
	maxPooledBody   = 64 << 10
)

var bodyBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, initialBodySize)
	return &b
}}

// grow enlarges the buffer in proportion to the received bytes, not to Content-Length.
func (in *requestBody) grow() error {
	if in.buf == nil {
		b := bodyBuffers.Get().(*[]byte)
		if err := in.acquire(int64(cap(*b))); err != nil {
			bodyBuffers.Put(b)
			return err
		}
		in.buf = b
		return nil
	}
	b := *in.buf
	if len(b) < cap(b) {
		return nil
	}
	size := min(4*int64(cap(b)), in.limit)
	if !in.chunked {
		size = min(size, int64(len(b))+in.remaining)
	}
	if err := in.acquire(size - int64(cap(b))); err != nil {
		return err
	}
	wider := append(make([]byte, 0, size), b...)
	in.recycle()
	in.buf = &wider
	return nil
}

func (in *requestBody) acquire(n int64) error {
	if rejection := in.principal.TryAcquire(limits.RequestBytes, n, in.held+n, in.reserved); rejection != nil {
		return rejection
	}
	in.held += n
	return nil
}

func (in *requestBody) recycle() {
	if b := in.buf; b != nil && cap(*b) <= maxPooledBody {
		*b = (*b)[:0]
		bodyBuffers.Put(b)
	}
	in.buf = nil
}

func (in *requestBody) free() {
	if in.held > 0 {
		in.principal.Release(limits.RequestBytes, in.held)
		in.held = 0
	}
	in.recycle()
}

func (in *requestBody) release() {
	in.free()
	*in = requestBody{}
}
