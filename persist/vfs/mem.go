package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"
)

// ErrCrashed is returned by every operation after a simulated crash.
var ErrCrashed = errors.New("the machine has crashed")

// An Op describes a mutating operation to the fault function of a Mem.
type Op struct {
	N    int    // 1 for the first operation, 2 for the next
	Name string // create, edit, write, sync, truncate, rename, remove, mkdir, syncdir, allocate
	Path string
}

// Mem is an in-memory file system that tracks which names and bytes survive a crash. As on a disk,
// a crash loses a file with synced bytes if its name is unsynced. Mem is safe for concurrent use.
type Mem struct {
	mu      sync.Mutex
	now     map[string]*node // names as programs see them
	durable map[string]*node // names after a crash
	locks   map[*node]bool
	ops     int
	fault   func(Op) error
	budget  int64 // maximum total size of all files in bytes; negative: no limit
	crashed bool
	// volatile disables durable copies, because the data need not outlive the process.
	volatile bool
}

var _ FS = (*Mem)(nil)

// NewMem returns an empty file system with a durable root directory.
func NewMem() *Mem {
	return &Mem{
		now: map[string]*node{}, durable: map[string]*node{},
		locks: map[*node]bool{}, budget: -1,
	}
}

// ErrVolatile is returned by Allocate on a volatile file system. It wraps errors.ErrUnsupported.
// Callers need not log it.
var ErrVolatile = fmt.Errorf("a volatile file system cannot reserve space: %w", errors.ErrUnsupported)

// NewVolatile returns a file system for a process that needs no durability. Sync costs neither time
// nor memory, and Allocate fails. The file system cannot crash.
func NewVolatile() *Mem {
	m := NewMem()
	m.volatile = true
	return m
}

// SetFault sets a function called before each mutating operation. An error makes the operation
// fail. After ErrCrashed, all later operations fail too.
func (m *Mem) SetFault(fault func(Op) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = fault
}

// SetBudget limits the total size of all files in bytes. A negative number removes the limit.
func (m *Mem) SetBudget(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.budget = bytes
}

// Ops returns the number of mutating operations so far.
func (m *Mem) Ops() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ops
}

// Used returns the total size of all files in bytes.
func (m *Mem) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used()
}

func (m *Mem) used() (n int64) {
	for _, f := range m.now {
		n += int64(f.size())
	}
	return n
}

// Clone returns an independent copy of the file system, as another process would see it. In the
// copy, everything is durable and no lock is held.
func (m *Mem) Clone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := NewMem()
	for p, n := range m.now {
		c.now[p] = &node{dir: n.dir, data: n.bytes(), synced: n.bytes()}
	}
	c.durable = maps.Clone(c.now)
	return c
}

// Fork returns an independent copy of a volatile file system, in which no lock is held. Both share
// the current bytes of files until they are overwritten.
func (m *Mem) Fork() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := NewVolatile()
	for p, n := range m.now {
		f.now[p] = n.fork()
	}
	return f
}

// Bytes returns a copy of a file's content, or nil if the file does not exist.
func (m *Mem) Bytes(p string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.now[path.Clean(p)]; n != nil && !n.dir {
		return n.bytes()
	}
	return nil
}

// SetBytes durably replaces a file's content, without calling the fault function.
func (m *Mem) SetBytes(p string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := &node{data: slices.Clone(data), synced: slices.Clone(data)}
	m.now[path.Clean(p)], m.durable[path.Clean(p)] = n, n
}

// Files returns the paths of all files in ascending order.
func (m *Mem) Files() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for p, n := range m.now {
		if !n.dir {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func (m *Mem) mutate(name, p string, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.beginOp(name, p); err != nil {
		return err
	}
	return do()
}

func (m *Mem) beginOp(name, p string) error {
	if m.crashed {
		return ErrCrashed
	}
	m.ops++
	if m.fault == nil {
		return nil
	}
	err := m.fault(Op{N: m.ops, Name: name, Path: p})
	if errors.Is(err, ErrCrashed) {
		m.crashed = true
	}
	return err
}

func missing(op, p string) error { return &fs.PathError{Op: op, Path: p, Err: fs.ErrNotExist} }

// isDir reports whether p is a directory. The caller holds m.mu.
func (m *Mem) isDir(p string) bool {
	n := m.now[p]
	return p == "/" || n != nil && n.dir
}

func (m *Mem) Create(p string) (f File, err error) {
	p = path.Clean(p)
	err = m.mutate("create", p, func() error {
		if !m.isDir(path.Dir(p)) {
			return missing("create", p)
		}
		n := m.now[p]
		if n == nil {
			n = &node{}
			m.now[p] = n
		}
		n.resize(0)
		f = &memFile{m: m, node: n, path: p}
		return nil
	})
	return f, err
}

func (m *Mem) Open(p string) (File, error) { return m.open(p) }

func (m *Mem) OpenReadWrite(p string) (File, error) { return m.openReadWrite(p) }

// OpenLog opens a file. Its writes become durable only with Sync.
func (m *Mem) OpenLog(p string) (File, error) { return m.openReadWrite(p) }

// openReadWrite counts as a mutating operation named "edit", so that tests can make it fail.
func (m *Mem) openReadWrite(p string) (File, error) {
	if err := m.mutate("edit", path.Clean(p), func() error { return nil }); err != nil {
		return nil, err
	}
	return m.open(p)
}

func (m *Mem) open(p string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p = path.Clean(p)
	if m.crashed {
		return nil, ErrCrashed
	}
	n := m.now[p]
	if n == nil || n.dir {
		return nil, missing("open", p)
	}
	return &memFile{m: m, node: n, path: p}, nil
}

// Rename renames a file. It does not support directories.
func (m *Mem) Rename(from, to string) error {
	from, to = path.Clean(from), path.Clean(to)
	return m.mutate("rename", to, func() error {
		n := m.now[from]
		if n == nil {
			return missing("rename", from)
		}
		delete(m.now, from)
		m.now[to] = n
		return nil
	})
}

func (m *Mem) Remove(p string) error {
	p = path.Clean(p)
	return m.mutate("remove", p, func() error {
		if m.now[p] == nil {
			return missing("remove", p)
		}
		delete(m.now, p)
		return nil
	})
}

func (m *Mem) ReadDir(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir = path.Clean(dir)
	if m.crashed {
		return nil, ErrCrashed
	}
	if !m.isDir(dir) {
		return nil, missing("readdir", dir)
	}
	var names []string
	for p := range m.now {
		if p != dir && path.Dir(p) == dir {
			names = append(names, path.Base(p))
		}
	}
	slices.Sort(names)
	return names, nil
}

// MkdirAll creates directories. They become durable only with SyncDir of their parents, so that
// tests detect a missing SyncDir.
func (m *Mem) MkdirAll(dir string) error {
	dir = path.Clean(dir)
	return m.mutate("mkdir", dir, func() error {
		for d := dir; d != "/" && d != "."; d = path.Dir(d) {
			if m.now[d] == nil {
				m.now[d] = &node{dir: true}
			}
		}
		return nil
	})
}

// SyncDir makes the names in this directory durable, but not those in its subdirectories.
func (m *Mem) SyncDir(dir string) error {
	dir = path.Clean(dir)
	return m.mutate("syncdir", dir, func() error {
		maps.DeleteFunc(m.durable, func(p string, _ *node) bool { return path.Dir(p) == dir && m.now[p] == nil })
		for p, n := range m.now {
			if path.Dir(p) == dir {
				m.durable[p] = n
			}
		}
		return nil
	})
}

// Lock creates a lock file that survives a crash.
func (m *Mem) Lock(p string) (Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p = path.Clean(p)
	if m.crashed {
		return nil, ErrCrashed
	}
	n := m.now[p]
	if n == nil {
		n = &node{}
		m.now[p] = n
	}
	if m.locks[n] {
		return nil, ErrLocked
	}
	m.locks[n] = true
	return &memLock{m, p, n}, nil
}

type memLock struct {
	m    *Mem
	path string
	node *node
}

func (l *memLock) Held() (bool, error) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.m.crashed {
		return false, ErrCrashed
	}
	return l.m.now[l.path] == l.node, nil
}

func (l *memLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	delete(l.m.locks, l.node)
	return nil
}
