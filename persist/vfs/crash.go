package vfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Sector is the number of bytes that a disk writes atomically.
const Sector = 512

// Crash returns the file system after a power loss and a reboot. m returns ErrCrashed from then on.
// If chance is nil, everything unsynced is lost. Otherwise each unsynced name, length and sector
// survives at random. Names are visited in a fixed order, so a seed reproduces the outcome.
func (m *Mem) Crash(chance *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.crashed = true
	names := m.survivingNames(chance)
	after := NewMem()
	nodes := map[*node]*node{}
	for _, p := range slices.Sorted(maps.Keys(names)) {
		if !inKeptDir(p, names) {
			continue
		}
		n := names[p]
		if nodes[n] == nil {
			d := n.survivingBytes(chance)
			nodes[n] = &node{dir: n.dir, data: d, synced: slices.Clone(d)}
		}
		after.now[p] = nodes[n]
	}
	after.durable = maps.Clone(after.now)
	return after
}

// survivingNames returns the names that survive a crash. Each unsynced change survives at random.
// An unsynced rename counts as two changes, as on a disk.
func (m *Mem) survivingNames(chance *rand.Rand) map[string]*node {
	names := maps.Clone(m.durable)
	if chance == nil {
		return names
	}
	all := maps.Clone(m.durable)
	maps.Copy(all, m.now)
	for _, p := range slices.Sorted(maps.Keys(all)) {
		if m.now[p] == m.durable[p] || chance.IntN(2) == 0 {
			continue
		}
		if n := m.now[p]; n != nil {
			names[p] = n
		} else {
			delete(names, p)
		}
	}
	return names
}

// survivingBytes returns the content of a file after a crash. If the file was extended, any part of
// the extension may survive. If it was truncated, either the old or the new length survives. Each
// sector has either its old or its new content.
func (n *node) survivingBytes(chance *rand.Rand) []byte {
	if n.dir || chance == nil || slices.Equal(n.data, n.synced) {
		return slices.Clone(n.synced)
	}
	size := len(n.synced)
	if d := len(n.data) - len(n.synced); d > 0 {
		size += chance.IntN(d + 1)
	} else if d < 0 && chance.IntN(2) == 0 {
		size = len(n.data)
	}
	out := make([]byte, size)
	for at := 0; at < size; at += Sector {
		from := n.synced
		if chance.IntN(2) == 0 && at < len(n.data) {
			from = n.data
		}
		end := min(at+Sector, size)
		if at < len(from) {
			copy(out[at:end], from[at:min(end, len(from))])
		}
	}
	return out
}
