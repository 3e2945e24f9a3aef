package wire

import "sync"

// chunkBuffers are those in which small writes are gathered. They are held only while something is
// being written, so a quiet connection has none.
var chunkBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledBuffer is the size, in bytes, up to which a buffer is used again.
const maxPooledBuffer = 4 * MaxWriteSize

// GetBuffer gives an empty buffer.
func GetBuffer() *[]byte {
	buf := chunkBuffers.Get().(*[]byte)
	*buf = (*buf)[:0]
	return buf
}

// PutBuffer takes a buffer back, unless it has grown large.
func PutBuffer(buf *[]byte) {
	if cap(*buf) <= maxPooledBuffer {
		chunkBuffers.Put(buf)
	}
}
