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

// sector is the number of bytes that a disk writes atomically.
const sector = 512

// A powerDisk is a file that can hold a file system, with a disk's volatile write cache. At a power
// cut, each sector written since the last flush is kept or lost at random. The kernel's loop device
// turns a flush into an fsync of the file.
type powerDisk struct {
	fs.Inode

	mu       sync.Mutex
	bytes    []byte
	unsynced map[int64][]byte // previous contents of the sectors written since the last flush, by number
	off      bool             // the power is off, and every operation fails
	cached   int              // sectors that have ever been in unsynced
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

// cut turns off the power. It returns the remaining disk content and the number of lost sectors.
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

func (d *powerDisk) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (d *powerDisk) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size = syscall.S_IFREG|0o600, uint64(len(d.bytes))
	return 0
}

func (d *powerDisk) Read(_ context.Context, _ fs.FileHandle, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return nil, syscall.EIO
	}
	return fuse.ReadResultData(into[:copy(into, d.bytes[min(at, int64(len(d.bytes))):])]), 0
}

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
