package storage

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/troupe-api/troupe/test/client"
)

// sector is the number of bytes that a disk writes wholly or not at all.
const sector = 512

// A powerDisk is a file that a file system can be put on, with the cache of a disk: what was written since the last flush is lost
// with the power, each sector by the toss of a coin. The kernel's loop device makes a flush an fsync of the file.
type powerDisk struct {
	fs.Inode

	mu       sync.Mutex
	bytes    []byte
	unsynced map[int64][]byte // by number, sectors written since the last flush, as they were then
	off      bool             // nothing is answered without power
	cached   int              // sectors that were once in unsynced
	flushes  int
	writes   client.Tally
}

var (
	_ fs.NodeOpener    = (*powerDisk)(nil)
	_ fs.NodeGetattrer = (*powerDisk)(nil)
	_ fs.NodeReader    = (*powerDisk)(nil)
	_ fs.NodeWriter    = (*powerDisk)(nil)
	_ fs.NodeFsyncer   = (*powerDisk)(nil)
)

func newPowerDisk(bytes []byte) *powerDisk {
	return &powerDisk{bytes: bytes, unsynced: map[int64][]byte{}}
}

// cut ends the power and answers what is on the disk afterwards, and how many sectors were lost.
func (d *powerDisk) cut(chance *rand.Rand) (survives []byte, lost int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
	survives = slices.Clone(d.bytes)
	for _, n := range slices.Sorted(maps.Keys(d.unsynced)) {
		if chance.IntN(2) == 0 {
			copy(survives[n*sector:], d.unsynced[n])
			lost++
		}
	}
	return survives, lost
}

// Open implements fs.NodeOpener.
func (d *powerDisk) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

// Getattr implements fs.NodeGetattrer.
func (d *powerDisk) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size = syscall.S_IFREG|0o600, uint64(len(d.bytes))
	return 0
}

// Read implements fs.NodeReader.
func (d *powerDisk) Read(_ context.Context, _ fs.FileHandle, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return nil, syscall.EIO
	}
	return fuse.ReadResultData(into[:copy(into, d.bytes[min(at, int64(len(d.bytes))):])]), 0
}

// Write implements fs.NodeWriter.
func (d *powerDisk) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	end := at + int64(len(data))
	if d.off || end > int64(len(d.bytes)) {
		return 0, syscall.EIO
	}
	for n := at / sector; n*sector < end; n++ {
		if d.unsynced[n] == nil {
			d.unsynced[n] = slices.Clone(d.bytes[n*sector : (n+1)*sector])
			d.cached++
		}
	}
	copy(d.bytes[at:], data)
	d.writes.Add()
	return uint32(len(data)), 0
}

// Fsync implements fs.NodeFsyncer.
func (d *powerDisk) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return syscall.EIO
	}
	clear(d.unsynced)
	d.flushes++
	return 0
}
