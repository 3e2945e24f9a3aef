package vfs

// A node is a directory or a file; data and synced are its bytes now and after a crash.
type node struct {
	dir          bool
	data, synced []byte
	// What may differ between the two, beside their lengths, lies in data[from:to].
	from, to int
}

// write puts bytes at an offset; zeros fill what lies between them and the end.
func (n *node) write(b []byte, off int) {
	if len(b) == 0 {
		return
	}
	if end := off + len(b); end > len(n.data) {
		n.resize(end)
	}
	n.touch(off, off+copy(n.data[off:], b))
}

// resize cuts the data off or adds zeros.
func (n *node) resize(size int) {
	before := len(n.data)
	if size <= before {
		n.data = n.data[:size]
		return
	}
	n.data = append(n.data, make([]byte, size-before)...)
	n.touch(before, size)
}

// One range is enough: the journal writes forward, and a sync then copies only what is new and not the whole file.
func (n *node) touch(from, to int) {
	if n.from == n.to {
		n.from, n.to = from, to
		return
	}
	n.from, n.to = min(n.from, from), max(n.to, to)
}

// sync makes the data durable.
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
