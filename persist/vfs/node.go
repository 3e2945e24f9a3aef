package vfs

import "slices"

// A node is a directory or a file. Its current bytes are shared followed by data. synced contains
// the bytes that survive a crash.
type node struct {
	dir          bool
	shared       []byte // immutable, because forks share it; empty unless the file system is volatile
	data, synced []byte
	// data and synced may differ only in their lengths and in data[from:to].
	from, to int
}

func (n *node) write(b []byte, off int) {
	if len(b) == 0 {
		return
	}
	if off < len(n.shared) {
		n.shared, n.data = n.shared[:off], slices.Concat(n.shared[off:], n.data)
	}
	if end := off + len(b); end > n.size() {
		n.resize(end)
	}
	off -= len(n.shared)
	n.touch(off, off+copy(n.data[off:], b))
}

func (n *node) size() int { return len(n.shared) + len(n.data) }

func (n *node) bytes() []byte { return slices.Concat(n.shared, n.data) }

func (n *node) readAt(b []byte, off int) int {
	read := 0
	if off < len(n.shared) {
		read = copy(b, n.shared[off:])
	}
	if from := off + read - len(n.shared); from >= 0 && from < len(n.data) {
		read += copy(b[read:], n.data[from:])
	}
	return read
}

// fork returns a node that shares the bytes of a volatile node.
func (n *node) fork() *node {
	if len(n.shared) == 0 {
		n.shared = n.data
	} else if len(n.data) > 0 {
		n.shared = n.bytes()
	}
	n.data = nil
	return &node{dir: n.dir, shared: n.shared}
}

func (n *node) resize(size int) {
	if size < len(n.shared) {
		n.shared = n.shared[:size]
	}
	size = max(0, size-len(n.shared))
	before := len(n.data)
	if size <= before {
		n.data = n.data[:size]
		return
	}
	n.data = append(n.data, make([]byte, size-before)...)
	n.touch(before, size)
}

// touch extends the single range of unsynced bytes, so that a sync copies only new bytes. One range
// is enough, because the journal writes sequentially.
func (n *node) touch(from, to int) {
	if n.from == n.to {
		n.from, n.to = from, to
		return
	}
	n.from, n.to = min(n.from, from), max(n.to, to)
}

func (n *node) sync() {
	size := len(n.data)
	if size < len(n.synced) {
		n.synced = n.synced[:size]
	}
	from := min(n.from, len(n.synced))
	to := min(n.to, size)
	if size > len(n.synced) {
		n.synced = append(n.synced, n.data[len(n.synced):]...)
	}
	if from < to {
		copy(n.synced[from:to], n.data[from:to])
	}
	n.from, n.to = 0, 0
}
