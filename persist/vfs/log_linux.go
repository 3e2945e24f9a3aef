package vfs

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// blockSize is what direct writes are aligned to, in the file as in memory.
const blockSize = 4 << 10

// maxBuffer is the largest buffer that a logFile keeps between writes.
const maxBuffer = 1 << 20

// A logFile writes past the page cache, which saves copying, and pages that are never read. It
// writes whole blocks: the first begins with the bytes that it already held, and the last ends with
// zeros. So bytes that are on the disk are only ever overwritten with the same bytes.
type logFile struct {
	osFile
	direct *os.File // its writes are durable when they return; nil if there are none
	buf    []byte   // aligned
	end    int64    // where the last direct write ended
	last   []byte   // of buf: what it wrote of the block that end lies in
	dirty  bool     // something else than a direct write has happened since the last Sync
}

// newLogFile makes a file a log, if the file system has direct writes.
//
// O_DSYNC makes one call of a write and its sync. It begins dirty, because what an earlier process wrote may still be
// in the page cache.
func newLogFile(f osFile) File {
	direct, err := os.OpenFile(f.Name(), os.O_WRONLY|syscall.O_DIRECT|syscall.O_DSYNC, 0)
	if err != nil {
		return f
	}
	return &logFile{osFile: f, direct: direct, dirty: true, end: -1}
}

// WriteAt implements File.
//
// After an error it is not known what the disk holds, so the next write reads the beginning of its block from the
// file again.
func (f *logFile) WriteAt(b []byte, off int64) (int, error) {
	if f.direct == nil {
		return f.osFile.WriteAt(b, off)
	}
	head := int(off % blockSize)
	whole, err := f.blocks(b, off, head)
	if err != nil {
		return 0, err
	}
	_, err = f.direct.WriteAt(whole, off-int64(head))
	if errors.Is(err, syscall.EINVAL) {
		return f.writeThrough(b, off)
	}
	if err != nil {
		f.end, f.dirty = -1, true
		return 0, err
	}
	f.end = off + int64(len(b))
	f.last = whole[(head+len(b))/blockSize*blockSize:][:f.end%blockSize]
	return len(b), nil
}

// blocks lays out the blocks that b lies in, of which the first begins with head bytes that
// are there already.
//
// A batch rarely begins at a block. The bytes before it are those of the last write in the usual case, and are only
// read where it is not the one that this follows.
func (f *logFile) blocks(b []byte, off int64, head int) ([]byte, error) {
	size := (head + len(b) + blockSize - 1) / blockSize * blockSize
	old := f.last
	if cap(f.buf) < size || cap(f.buf) > maxBuffer {
		f.buf = aligned(max(size, min(2*size, maxBuffer)))
	}
	whole := f.buf[:size]
	if f.end == off {
		copy(whole, old)
	} else if _, err := f.osFile.ReadAt(whole[:head], off-int64(head)); err != nil && head > 0 {
		return nil, err
	}
	clear(whole[head+copy(whole[head:], b):])
	return whole, nil
}

// aligned is a buffer of n bytes that begins at a multiple of blockSize.
//
// One block more is taken than is needed, since Go promises no such alignment; its collector does not move what it
// has allocated.
func aligned(n int) []byte {
	b := make([]byte, n+blockSize)
	past := int(uintptr(unsafe.Pointer(&b[0])) % blockSize)
	return b[(blockSize-past)%blockSize:][:n:n]
}

// writeThrough gives up direct writes, which this file system refuses although it opened the file for them.
func (f *logFile) writeThrough(b []byte, off int64) (int, error) {
	direct := f.direct
	f.direct, f.buf, f.last, f.dirty = nil, nil, nil, true
	if err := direct.Close(); err != nil {
		return 0, err
	}
	return f.osFile.WriteAt(b, off)
}

// Truncate implements File.
//
// A length is metadata that direct writes do not cover, hence the real Sync after it.
func (f *logFile) Truncate(size int64) error {
	f.end, f.dirty = -1, true
	return f.osFile.Truncate(size)
}

// Zero implements File.
func (f *logFile) Zero(from, to int64) error {
	f.end, f.dirty = -1, true
	return f.osFile.Zero(from, to)
}

// Sync implements File. Direct writes leave nothing to do.
func (f *logFile) Sync() error {
	if f.direct != nil && !f.dirty {
		return nil
	}
	err := f.osFile.Sync()
	f.dirty = err != nil
	return err
}

// Close implements File.
func (f *logFile) Close() error {
	if f.direct == nil {
		return f.osFile.Close()
	}
	return errors.Join(f.direct.Close(), f.osFile.Close())
}
