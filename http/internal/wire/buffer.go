package wire

import "sync"

// chunkBuffers pools buffers for small writes. A connection holds a buffer only during a write.
var chunkBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledBuffer is the size in bytes above which a buffer is not pooled.
const maxPooledBuffer = 4 * MaxWriteSize

// GetBuffer returns an empty buffer from the pool.
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
