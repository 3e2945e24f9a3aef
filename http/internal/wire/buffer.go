package wire

import "sync"

// chunkBuffers pools buffers for small writes. They are held only during a write, so an idle
// connection has none.
var chunkBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledBuffer is the largest buffer that is pooled, in bytes.
const maxPooledBuffer = 4 * MaxWriteSize

// GetBuffer returns an empty buffer.
func GetBuffer() *[]byte {
	buf := chunkBuffers.Get().(*[]byte)
	*buf = (*buf)[:0]
	return buf
}

// PutBuffer returns a buffer to the pool, unless it has grown too large.
func PutBuffer(buf *[]byte) {
	if cap(*buf) <= maxPooledBuffer {
		chunkBuffers.Put(buf)
	}
}
