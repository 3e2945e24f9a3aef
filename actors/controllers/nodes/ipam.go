package nodes

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A NodeRange is a range that nodes get parts of, and how long the prefix of a part is.
type NodeRange struct {
	Range netip.Prefix
	Bits  int
}

// parts is how many parts there are. Of a very large range only the first are used.
// The range must not be narrower than a part.
func (r NodeRange) parts() uint64 { return 1 << min(r.Bits-r.Range.Bits(), maxPartBits) }

// maxPartBits bounds the parts of a range, as bits: a cluster has fewer nodes.
const maxPartBits = 16

// part is the nth part.
// n must be less than parts. It is written bit by bit into the address, so that the same code serves both families:
// an IPv6 address does not fit into an integer.
func (r NodeRange) part(n uint64) netip.Prefix {
	b := r.Range.Masked().Addr().AsSlice()
	for bit := range 64 { // of n; the last bit of a part is that of its prefix
		if n>>bit&1 == 1 {
			at := r.Bits - 1 - bit
			b[at/8] |= 1 << (7 - at%8)
		}
	}
	a, _ := netip.AddrFromSlice(b)
	return netip.PrefixFrom(a, r.Bits)
}

// IPAM gives nodes their ranges of Pod addresses.
//
// What is taken is kept in memory and built anew from the nodes at each start; the nodes in the store are the only
// record. A range is noted as taken before it is written to its node, so that two workers cannot give the same one
// out.
type IPAM struct {
	*reconcile.Controller[string]
	nodes  reconcile.Client
	ranges []NodeRange    // one of each family
	avoid  []netip.Prefix // what nodes do not get parts of

	mu    sync.Mutex // guards the rest
	taken map[netip.Prefix]string
	has   map[string][]netip.Prefix // by node
	next  []uint64                  // the part of each range that is looked at next
}

// NewIPAM returns the controller. Without ranges it does nothing. Parts that overlap with what is
// to be avoided, such as the addresses of Services, are not given out.
func NewIPAM(env *reconcile.Env, ranges []NodeRange, avoid []netip.Prefix) *IPAM {
	m := &IPAM{
		nodes: env.Core("Node").Reporting("cidrAllocator"), ranges: ranges, avoid: avoid,
		taken: map[netip.Prefix]string{}, has: map[string][]netip.Prefix{}, next: make([]uint64, len(ranges)),
	}
	m.Controller = reconcile.New(env, "", m.assign, "a node gets no range of addresses", "node")
	m.Watch(m.nodes, m.onNode)
	return m
}

// Run runs the controller until the context ends.
func (m *IPAM) Run(ctx context.Context) {
	if len(m.ranges) > 0 {
		m.Controller.Run(ctx)
	}
}

// onNode takes in what a node has, and queues one that has nothing. No range is given away before those of all nodes are
// known.
func (m *IPAM) onNode(e reconcile.Event) {
	name := e.Key.Name
	if e.Deleted {
		m.mu.Lock()
		m.release(name)
		m.mu.Unlock()
		return
	}
	node, err := m.nodes.Decode(e.Object)
	if err != nil {
		m.Log.Warn("a node cannot be read", "node", name, "error", err)
		return
	}
	ranges := rangesOf(node)
	if len(ranges) == 0 {
		m.Add(name)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.release(name)
	m.take(name, ranges)
}

// rangesOf are the ranges of a node.
func rangesOf(node tree.Tree) []netip.Prefix {
	var ranges []netip.Prefix
	for _, text := range node.Object("spec").Strings("podCIDRs") {
		if p, err := address.ParsePrefix(text); err == nil {
			ranges = append(ranges, p.Masked())
		}
	}
	return ranges
}

// take notes that a node has ranges. The caller holds the lock.
func (m *IPAM) take(node string, ranges []netip.Prefix) {
	for _, p := range ranges {
		m.taken[p] = node
	}
	m.has[node] = ranges
}

// release notes that a node has its ranges no more. The caller holds the lock.
// A range that another node has taken since stays taken.
func (m *IPAM) release(node string) {
	for _, p := range m.has[node] {
		if m.taken[p] == node {
			delete(m.taken, p)
		}
	}
	delete(m.has, node)
}

// assign gives a node its ranges, if it has none.
// When no part is free, the error brings the node back into the queue, where it waits for another node to go. When
// the write fails the range is released, and the next try picks anew.
func (m *IPAM) assign(ctx context.Context, name string) error {
	o, node, err := m.nodes.ReadNamed(ctx, "", name)
	if err != nil || o == nil || len(rangesOf(node)) > 0 {
		return err
	}
	ranges, ok := m.pick(name)
	if !ok {
		m.nodes.Note(o, "CIDRNotAvailable", "Node "+name+" status is now: CIDRNotAvailable")
		return fmt.Errorf("no range of addresses is free")
	}
	var texts []any
	for _, p := range ranges {
		texts = append(texts, p.String())
	}
	err = m.nodes.Patch(ctx, o, "", tree.Tree{"spec": tree.Tree{"podCIDR": texts[0], "podCIDRs": texts}})
	if err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.release(name)
	}
	return err
}

// pick takes a free part of each range for a node; ok is false if one has none.
//
// Either all ranges yield a part, or nothing is taken: a node with one family only would be hard to mend, as its
// ranges cannot change later.
func (m *IPAM) pick(node string) (picked []netip.Prefix, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if had := m.has[node]; len(had) > 0 {
		return had, true
	}
	for i, r := range m.ranges {
		p, ok := m.pickFrom(i, r)
		if !ok {
			return nil, false
		}
		picked = append(picked, p)
	}
	m.take(node, picked)
	return picked, true
}

// pickFrom finds a free part, from where the last one was found onwards. The caller holds the lock.
// Going round means that a range that has just become free is used as late as possible: others may still send to its
// former Pods.
func (m *IPAM) pickFrom(i int, r NodeRange) (netip.Prefix, bool) {
	for range r.parts() {
		p := r.part(m.next[i])
		m.next[i] = (m.next[i] + 1) % r.parts()
		if !m.isTaken(p) {
			return p, true
		}
	}
	return netip.Prefix{}, false
}

// isTaken tells whether a part is a node's, or to be avoided. Nodes may have ranges of another size, which somebody else has
// given them. The caller holds the lock.
// A part of the same size is found by one look-up; only ranges of other sizes need the comparison with each one.
func (m *IPAM) isTaken(p netip.Prefix) bool {
	if _, taken := m.taken[p]; taken || slices.ContainsFunc(m.avoid, p.Overlaps) {
		return true
	}
	for other := range m.taken {
		if other.Bits() != p.Bits() && other.Overlaps(p) {
			return true
		}
	}
	return false
}
