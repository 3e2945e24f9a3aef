package nodes

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
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
	store  Store
	kind   *schema.Kind
	ranges []NodeRange // one, or one of each family
	avoid  []netip.Prefix
	queue  *reconcile.Workqueue[string]
	events *reconcile.EventRecorder
	logger *slog.Logger

	mu     sync.Mutex                // guards what follows
	taken  map[netip.Prefix]string   // by which node
	has    map[string][]netip.Prefix // of nodes that have ranges
	next   []uint64                  // where to look for a free part, in each range
	synced chan struct{}             // closed when the ranges of all nodes are known
}

// NewIPAM returns the controller for the kinds of a catalogue. Without ranges it does nothing. Parts that overlap with what is
// to be avoided, such as the addresses of Services, are not given out.
func NewIPAM(store Store, kinds *catalog.Catalog, ranges []NodeRange, avoid []netip.Prefix, logger *slog.Logger) *IPAM {
	return &IPAM{
		store: store, kind: reconcile.CoreKind(kinds, "Node"), ranges: ranges, avoid: avoid, queue: reconcile.NewWorkqueue[string](),
		events: reconcile.NewEventRecorder(store, kinds, "cidrAllocator"), logger: logger,
		taken: map[netip.Prefix]string{}, has: map[string][]netip.Prefix{}, next: make([]uint64, len(ranges)), synced: make(chan struct{}),
	}
}

// Run runs the controller until the context ends.
func (m *IPAM) Run(ctx context.Context) {
	if len(m.ranges) == 0 {
		return
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { reconcile.RunInformer(ctx, m.store, m.kind, m) })
	select {
	case <-m.synced: // else a range might be given out that a node has which is not known yet
	case <-ctx.Done():
		return
	}
	m.queue.Run(ctx, m.assign, func(node string, err error) {
		m.logger.Warn("a node gets no range of addresses", "node", node, "error", err)
	})
}

// OnSynced implements reconcile.EventHandler.
func (m *IPAM) OnSynced() { close(m.synced) }

// OnEvent implements reconcile.EventHandler.
//
// A node that still has no range does not give back what pick has taken for it: the write of it may be under way.
func (m *IPAM) OnEvent(e reconcile.Event) {
	name := e.Key.Name
	if e.Deleted {
		m.mu.Lock()
		m.release(name)
		m.mu.Unlock()
		return
	}
	node, err := codec.DecodeStored(m.kind.Message(), e.JSON)
	if err != nil {
		m.logger.Warn("a node cannot be read", "node", name, "error", err)
		return
	}
	ranges := rangesOf(node)
	if len(ranges) == 0 {
		m.queue.Add(name)
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
	o, node, err := reconcile.Read(ctx, m.store, m.kind, meta.Key{GroupResource: m.kind.Storage, Name: name})
	if err != nil || o == nil || len(rangesOf(node)) > 0 {
		return err
	}
	ranges, ok := m.pick(name)
	if !ok {
		m.events.Record(ctx, m.kind, o, reconcile.Normal, "CIDRNotAvailable", "Node "+name+" status is now: CIDRNotAvailable")
		return fmt.Errorf("no range of addresses is free")
	}
	var texts []any
	for _, p := range ranges {
		texts = append(texts, p.String())
	}
	err = reconcile.PatchIfUnchanged(ctx, m.store, m.kind, o, "", tree.Tree{"spec": tree.Tree{"podCIDR": texts[0], "podCIDRs": texts}})
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
