package vfs

// A node is a directory or a file. data contains the current bytes, and synced the bytes that
// survive a crash.
type node struct {
	dir          bool
	data, synced []byte
	// data and synced may differ only in their lengths and in data[from:to].
	from, to int
}

func (n *node) write(b []byte, off int) {
	if len(b) == 0 {
		return
	}
	if end := off + len(b); end > len(n.data) {
		n.resize(end)
	}
	n.touch(off, off+copy(n.data[off:], b))
}

func (n *node) resize(size int) {
	before := len(n.data)
	if size <= before {
		n.data = n.data[:size]
		return
	}
	n.data = append(n.data, make([]byte, size-before)...)
	n.touch(before, size)
}

// touch extends the single range of unsynced bytes, so that a sync copies only new bytes. One range
// suffices, because the journal writes sequentially.
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
