package managedfields

import (
	"cmp"
	"slices"
	"strings"
)

// A Set is an immutable set of paths. The zero value is empty. A Set is a tree with one level per
// path element, so spec.replicas and spec.paused share the node of spec. Sets share subtrees.
// Union, Intersection and Difference descend only into nodes that both have.
type Set struct{ nodes []node } // sorted, so that two sets combine in one pass

// A node contains the paths that begin with one path element, and is never empty. member is true if
// the path that ends at this node is in the set.
type node struct {
	pathElement
	member bool
	below  Set
}

// A pathElement is one step of a path. kind is the letter before the colon. For kinds k and v, text
// is canonical JSON, so that equal elements have equal text.
type pathElement struct {
	kind byte
	text string
}

func (s pathElement) compare(o pathElement) int {
	return cmp.Or(cmp.Compare(s.kind, o.kind), strings.Compare(s.text, o.text))
}

func fieldElement(name string) pathElement { return pathElement{'f', name} }

// Empty reports whether s has no paths.
func (s Set) Empty() bool { return len(s.nodes) == 0 }

func (s Set) find(at pathElement) *node {
	i, ok := slices.BinarySearchFunc(s.nodes, at, func(n node, at pathElement) int { return n.pathElement.compare(at) })
	if !ok {
		return nil
	}
	return &s.nodes[i]
}

func (s Set) below(at pathElement) Set {
	if n := s.find(at); n != nil {
		return n.below
	}
	return Set{}
}

func (s Set) has(at pathElement) bool {
	n := s.find(at)
	return n != nil && n.member
}

// Equal reports whether a and b have the same paths.
func Equal(a, b Set) bool {
	return sameRef(a, b) || slices.EqualFunc(a.nodes, b.nodes, func(x, y node) bool {
		return x.pathElement == y.pathElement && x.member == y.member && Equal(x.below, y.below)
	})
}

// Union returns the paths of both sets. It returns a itself if a contains b, for example after a
// repeated write.
func Union(a, b Set) Set {
	switch {
	case a.Empty():
		return b
	case a.holds(b):
		return a
	}
	return combine(a, b, true, true, func(x, y node) node {
		return node{x.pathElement, x.member || y.member, Union(x.below, y.below)}
	})
}

// unionAll returns the union of all sets. It merges pairwise to walk each set only a few times.
func unionAll(sets []Set) Set {
	for len(sets) > 1 {
		joined := make([]Set, 0, (len(sets)+1)/2)
		for pair := range slices.Chunk(sets, 2) {
			joined = append(joined, Union(pair[0], pair[len(pair)-1]))
		}
		sets = joined
	}
	if len(sets) == 0 {
		return Set{}
	}
	return sets[0]
}

func (s Set) holds(b Set) bool {
	for i := range b.nodes {
		n := &b.nodes[i]
		if own := s.find(n.pathElement); own == nil || n.member && !own.member || !own.below.holds(n.below) {
			return false
		}
	}
	return true
}

// Intersection returns the paths in both sets.
func Intersection(a, b Set) Set {
	return combine(a, b, false, false, func(x, y node) node {
		return node{x.pathElement, x.member && y.member, Intersection(x.below, y.below)}
	})
}

// Difference returns the paths of a that are not in b.
func Difference(a, b Set) Set {
	if b.Empty() {
		return a
	}
	return combine(a, b, true, false, func(x, y node) node {
		return node{x.pathElement, x.member && !y.member, Difference(x.below, y.below)}
	})
}

// combine merges sorted nodes. keepA and keepB determine whether to keep nodes that only a or b
// contains. both merges two nodes with the same element. A galloping search skips dropped nodes,
// because thousands of managers may be compared with one large change.
func combine(a, b Set, keepA, keepB bool, both func(x, y node) node) Set {
	var out []node
	x, y := a.nodes, b.nodes
	for len(x) > 0 && (len(y) > 0 || keepA) || len(y) > 0 && keepB {
		order := 0
		switch {
		case len(x) == 0:
			order = 1
		case len(y) == 0:
			order = -1
		default:
			order = x[0].pathElement.compare(y[0].pathElement)
		}
		switch {
		case order < 0:
			if !keepA {
				x = leapTo(x, y[0].pathElement)
				continue
			}
			out, x = append(out, x[0]), x[1:]
		case order > 0:
			if !keepB {
				y = leapTo(y, x[0].pathElement)
				continue
			}
			out, y = append(out, y[0]), y[1:]
		default:
			if n := both(x[0], y[0]); n.member || !n.below.Empty() {
				out = append(out, n)
			}
			x, y = x[1:], y[1:]
		}
	}
	return Set{out}
}

// leapTo drops the leading nodes that are less than at. The search takes logarithmic time in the
// number of dropped nodes. The first node must be less than at.
func leapTo(nodes []node, at pathElement) []node {
	compare := func(n node, at pathElement) int { return n.pathElement.compare(at) }
	step := 1
	for step < len(nodes) && compare(nodes[step], at) < 0 {
		step *= 2
	}
	nodes, within := nodes[step/2:], nodes[step/2:min(step+1, len(nodes))]
	i, _ := slices.BinarySearchFunc(within, at, compare)
	return nodes[i:]
}

type builder struct {
	nodes    []node
	unsorted bool
	// duplicateIsLeaf drops everything below an element that is added twice, because paths below it
	// would be ambiguous.
	duplicateIsLeaf bool
}

func (b *builder) add(at pathElement, member bool, below Set) {
	if !member && below.Empty() {
		return
	}
	if n := len(b.nodes); n > 0 && b.nodes[n-1].pathElement.compare(at) >= 0 {
		b.unsorted = true
	}
	b.nodes = append(b.nodes, node{at, member, below})
}

func (b *builder) set() Set {
	if !b.unsorted {
		return Set{b.nodes}
	}
	slices.SortStableFunc(b.nodes, func(x, y node) int { return x.pathElement.compare(y.pathElement) })
	out := b.nodes[:0]
	for i := 0; i < len(b.nodes); {
		n, end := b.nodes[i], i+1
		for end < len(b.nodes) && b.nodes[end].pathElement == n.pathElement {
			n.member = n.member || b.nodes[end].member
			end++
		}
		if end > i+1 {
			n.below = b.belowAll(b.nodes[i:end])
		}
		out, i = append(out, n), end
	}
	return Set{out}
}

func (b *builder) belowAll(same []node) Set {
	if b.duplicateIsLeaf {
		return Set{}
	}
	all := make([]Set, len(same))
	for i := range same {
		all[i] = same[i].below
	}
	return unionAll(all)
}

// Paths returns the paths as shown in messages, such as .spec.containers[name="c"].image.
func (s Set) Paths() []string { return s.paths(nil, "") }

func (s Set) paths(list []string, prefix string) []string {
	for _, n := range s.nodes {
		at := prefix + n.pathElement.String()
		if n.member {
			list = append(list, at)
		}
		list = n.below.paths(list, at)
	}
	return list
}
