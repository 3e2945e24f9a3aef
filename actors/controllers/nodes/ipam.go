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

// NodeRange is a cluster CIDR to divide into Pod CIDRs. Bits is the prefix length of a Pod CIDR.
type NodeRange struct {
	Range netip.Prefix
	Bits  int
}

// parts returns the number of Pod CIDRs in the range, at most 1<<maxPartBits. Bits must not be less
// than the range's prefix length.
func (r NodeRange) parts() uint64 { return 1 << min(r.Bits-r.Range.Bits(), maxPartBits) }

// maxPartBits limits a range to 1<<maxPartBits Pod CIDRs. Clusters have fewer nodes.
const maxPartBits = 16

// part returns the nth Pod CIDR. n must be less than parts(). It sets individual bits, because an
// IPv6 address does not fit into an integer.
func (r NodeRange) part(n uint64) netip.Prefix {
	b := r.Range.Masked().Addr().AsSlice()
	for bit := range 64 { // bits of n, lowest first; bit 0 is the last bit of the prefix
		if n>>bit&1 == 1 {
			at := r.Bits - 1 - bit
			b[at/8] |= 1 << (7 - at%8)
		}
	}
	a, _ := netip.AddrFromSlice(b)
	return netip.PrefixFrom(a, r.Bits)
}

// IPAM assigns Pod CIDRs to nodes. Assignments are stored only in the nodes, so the allocation
// state is rebuilt at each start. A Pod CIDR is marked as taken before it is written, so that
// workers do not assign it twice.
type IPAM struct {
	*reconcile.Controller[string]
	nodes  reconcile.Client
	ranges []NodeRange    // one per family
	avoid  []netip.Prefix // ranges that are not assigned

	mu    sync.Mutex // guards the fields below
	taken map[netip.Prefix]string
	has   map[string][]netip.Prefix // by node
	next  []uint64                  // next part to try in each range
}

// NewIPAM returns a new IPAM, which does nothing if ranges is empty. It never assigns Pod CIDRs
// that overlap the prefixes in avoid, such as Service CIDRs.
func NewIPAM(env *reconcile.Env, ranges []NodeRange, avoid []netip.Prefix) *IPAM {
	m := &IPAM{
		nodes: env.Core("Node").Reporting("cidrAllocator"), ranges: ranges, avoid: avoid,
		taken: map[netip.Prefix]string{}, has: map[string][]netip.Prefix{}, next: make([]uint64, len(ranges)),
	}
	m.Controller = reconcile.New(env, "", m.assign, "cannot assign a range of addresses to a node", "node")
	m.Watch(m.nodes, m.onNode)
	return m
}

func (m *IPAM) Run(ctx context.Context) {
	if len(m.ranges) > 0 {
		m.Controller.Run(ctx)
	}
}

// onNode records a node's Pod CIDRs, and enqueues the node if it has none. Workers start only after
// all nodes are known.
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
		m.Log.Warn("cannot decode a node", "node", name, "error", err)
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

func rangesOf(node tree.Tree) []netip.Prefix {
	var ranges []netip.Prefix
	for _, text := range node.Object("spec").Strings("podCIDRs") {
		if p, err := address.ParsePrefix(text); err == nil {
			ranges = append(ranges, p.Masked())
		}
	}
	return ranges
}

// take must be called with mu held.
func (m *IPAM) take(node string, ranges []netip.Prefix) {
	for _, p := range ranges {
		m.taken[p] = node
	}
	m.has[node] = ranges
}

// release must be called with mu held.
func (m *IPAM) release(node string) {
	for _, p := range m.has[node] {
		if m.taken[p] == node {
			delete(m.taken, p)
		}
	}
	delete(m.has, node)
}

// assign assigns Pod CIDRs to a node that has none. If no Pod CIDR is free, it returns an error, so
// that the queue retries. A failed write releases the Pod CIDRs.
func (m *IPAM) assign(ctx context.Context, name string) error {
	o, node, err := m.nodes.ReadNamed(ctx, "", name)
	if err != nil || o == nil || len(rangesOf(node)) > 0 {
		return err
	}
	ranges, ok := m.pick(name)
	if !ok {
		m.nodes.Note(o, "CIDRNotAvailable", "Node "+name+" status is now: CIDRNotAvailable")
		return fmt.Errorf("no range of addresses is available")
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

// pick takes a free Pod CIDR from each range for a node. If any range is exhausted, it takes
// nothing and returns false, because a node's Pod CIDRs are immutable.
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

// pickFrom returns a free Pod CIDR. It searches round-robin to reuse released Pod CIDRs as late as
// possible, because clients may still send to the previous Pods. The caller must hold mu.
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

// isTaken reports whether a Pod CIDR is assigned or excluded. It checks for overlaps with all taken
// Pod CIDRs, because users may have set Pod CIDRs of other sizes. The caller must hold mu.
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
