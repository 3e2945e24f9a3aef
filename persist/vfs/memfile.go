package vfs

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// A memFile is an open file. Like a file descriptor, it stays valid after the file is renamed or
// removed.
type memFile struct {
	m    *Mem
	node *node
	path string
}

func (f *memFile) ReadAt(b []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.m.crashed {
		return 0, ErrCrashed
	}
	n := f.node.readAt(b, int(off))
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt writes as many bytes as the budget allows, like a disk that fills up. If the fault
// function simulates a crash, WriteAt writes half of the bytes. Crash then decides which sectors
// survive.
func (f *memFile) WriteAt(b []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.beginOp("write", f.path); err != nil {
		if errors.Is(err, ErrCrashed) {
			f.node.write(b[:len(b)/2], int(off))
		}
		return 0, err
	}
	grows := off + int64(len(b)) - int64(f.node.size())
	if over := f.m.used() + grows - f.m.budget; f.m.budget >= 0 && grows > 0 && over > 0 {
		b = b[:max(0, int64(len(b))-over)]
		f.node.write(b, int(off))
		return len(b), &fs.PathError{Op: "write", Path: f.path, Err: syscall.ENOSPC}
	}
	f.node.write(b, int(off))
	return len(b), nil
}

func (f *memFile) Sync() error {
	return f.m.mutate("sync", f.path, func() error {
		if !f.m.volatile {
			f.node.sync()
		}
		return nil
	})
}

func (f *memFile) Truncate(size int64) error {
	return f.m.mutate("truncate", f.path, func() error {
		f.node.resize(int(size))
		return nil
	})
}

// Allocate extends the file with zeros. If the budget is too small, it fails and changes nothing.
func (f *memFile) Allocate(size int64) error {
	if f.m.volatile {
		return ErrVolatile
	}
	return f.m.mutate("allocate", f.path, func() error {
		grows := size - int64(f.node.size())
		if f.m.budget >= 0 && grows > 0 && f.m.used()+grows > f.m.budget {
			return &fs.PathError{Op: "allocate", Path: f.path, Err: syscall.ENOSPC}
		}
		if grows > 0 {
			f.node.resize(int(size))
		}
		return nil
	})
}

// Zero zeroes a byte range. Unlike WriteAt, it changes nothing if the fault function simulates a
// crash.
func (f *memFile) Zero(from, to int64) error {
	return f.m.mutate("zero", f.path, func() error {
		f.node.write(make([]byte, to-from), int(from))
		return nil
	})
}

func (f *memFile) Size() (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.m.crashed {
		return 0, ErrCrashed
	}
	return int64(f.node.size()), nil
}

func (f *memFile) Close() error { return nil }

func inKeptDir(p string, kept map[string]*node) bool {
	for d := path.Dir(p); d != "/" && d != "."; d = path.Dir(d) {
		if n := kept[d]; n == nil || !n.dir {
			return false
		}
	}
	return !strings.HasSuffix(p, "/")
}
