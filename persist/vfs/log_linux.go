package vfs

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// blockSize is the alignment of direct writes, for both file offsets and memory.
const blockSize = 4 << 10

// maxBuffer is the largest buffer, in bytes, that a logFile keeps between writes.
const maxBuffer = 1 << 20

// A logFile writes with direct I/O, because the pages of a log are never read from the page cache.
// Direct I/O requires whole blocks. The first block of a write therefore repeats the bytes before
// the write, and the last block is padded with zeros.
type logFile struct {
	osFile
	direct *os.File // its writes are durable when they return; nil without direct writes
	buf    []byte   // buffer aligned to blockSize
	end    int64    // end of the last direct write
	last   []byte   // part of buf: the bytes of that write in the block of end
	dirty  bool     // operations other than direct writes have occurred since the last Sync
}

// newLogFile opens a log with direct writes if the file system supports them. With O_DSYNC, a write
// includes its sync. The file starts dirty, because the page cache may hold unsynced writes of an
// earlier process.
func newLogFile(f osFile) File {
	direct, err := os.OpenFile(f.Name(), os.O_WRONLY|syscall.O_DIRECT|syscall.O_DSYNC, 0)
	if err != nil {
		return f
	}
	return &logFile{osFile: f, direct: direct, dirty: true, end: -1}
}

// WriteAt writes b with a direct write. After a failed write, the next WriteAt reads the start of
// its first block from the file, because the buffer of the last write may not match the disk.
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

// blocks returns the whole blocks that contain b. The first block begins with the head bytes that
// precede b in the file. They come from the buffer of the last write, if possible, or from the
// file.
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

// aligned returns a buffer of n bytes that is aligned to blockSize. The buffer stays aligned,
// because the garbage collector does not move it.
func aligned(n int) []byte {
	b := make([]byte, n+blockSize)
	past := int(uintptr(unsafe.Pointer(&b[0])) % blockSize)
	return b[(blockSize-past)%blockSize:][:n:n]
}

// writeThrough disables direct I/O, because some file systems accept O_DIRECT but reject direct
// writes.
func (f *logFile) writeThrough(b []byte, off int64) (int, error) {
	direct := f.direct
	f.direct, f.buf, f.last, f.dirty = nil, nil, nil, true
	if err := direct.Close(); err != nil {
		return 0, err
	}
	return f.osFile.WriteAt(b, off)
}

// Truncate marks the file dirty, because direct writes do not sync the length.
func (f *logFile) Truncate(size int64) error {
	f.end, f.dirty = -1, true
	return f.osFile.Truncate(size)
}

func (f *logFile) Zero(from, to int64) error {
	f.end, f.dirty = -1, true
	return f.osFile.Zero(from, to)
}

// Sync does nothing after direct writes, because they are already durable.
func (f *logFile) Sync() error {
	if f.direct != nil && !f.dirty {
		return nil
	}
	err := f.osFile.Sync()
	f.dirty = err != nil
	return err
}

func (f *logFile) Close() error {
	if f.direct == nil {
		return f.osFile.Close()
	}
	return errors.Join(f.direct.Close(), f.osFile.Close())
}
