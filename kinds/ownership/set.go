package ownership

import (
	"cmp"
	"slices"
	"strings"
)

// A Set is a set of paths. It is immutable, so that sets share their lower levels; the zero value is
// empty.
//
// It is a tree with one level per path element: spec.replicas and spec.paused share the node of spec.
// Union, Intersection and Difference walk over two such trees at once, at the cost of the nodes on the levels that both
// have.
type Set struct{ nodes []node } // sorted, so that two sets are combined in one pass

// A node is what a set holds at and below one path element: the path that ends here, if member, and those
// that go on. At least one of the two is there.
type node struct {
	pathElement
	member bool
	below  Set
}

// A pathElement is one part of a path: its kind, which is the letter before the colon, and the text after
// the colon. Elements of kind k and v hold canonical JSON, so that equal elements have equal text.
type pathElement struct {
	kind byte
	text string
}

func (s pathElement) compare(o pathElement) int {
	return cmp.Or(cmp.Compare(s.kind, o.kind), strings.Compare(s.text, o.text))
}

// fieldElement is the path element of a field or of a key of a map.
func fieldElement(name string) pathElement { return pathElement{'f', name} }

// Empty tells whether there is no path in s.
func (s Set) Empty() bool { return len(s.nodes) == 0 }

// find is the node of a path element; nil if there is none.
func (s Set) find(at pathElement) *node {
	i, ok := slices.BinarySearchFunc(s.nodes, at, func(n node, at pathElement) int { return n.pathElement.compare(at) })
	if !ok {
		return nil
	}
	return &s.nodes[i]
}

// below is what s holds below a path element.
func (s Set) below(at pathElement) Set {
	if n := s.find(at); n != nil {
		return n.below
	}
	return Set{}
}

// has tells whether the path of this one element is in s.
func (s Set) has(at pathElement) bool {
	n := s.find(at)
	return n != nil && n.member
}

// Equal tells whether a and b hold the same paths.
func Equal(a, b Set) bool {
	return sameRef(a, b) || slices.EqualFunc(a.nodes, b.nodes, func(x, y node) bool {
		return x.pathElement == y.pathElement && x.member == y.member && Equal(x.below, y.below)
	})
}

// Union holds the paths of both. It is a itself where that holds all of b, which is the usual case of a
// writer that writes the same fields again.
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

// unionAll holds the paths of all sets. They are joined two by two, so that each is walked a few times only, however many there are.
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

// holds tells whether all paths of b are in s.
func (s Set) holds(b Set) bool {
	for i := range b.nodes {
		n := &b.nodes[i]
		if own := s.find(n.pathElement); own == nil || n.member && !own.member || !own.below.holds(n.below) {
			return false
		}
	}
	return true
}

// Intersection holds the paths that are in both.
func Intersection(a, b Set) Set {
	return combine(a, b, false, false, func(x, y node) node {
		return node{x.pathElement, x.member && y.member, Intersection(x.below, y.below)}
	})
}

// Difference holds the paths of a that are not in b.
func Difference(a, b Set) Set {
	if b.Empty() {
		return a
	}
	return combine(a, b, true, false, func(x, y node) node {
		return node{x.pathElement, x.member && !y.member, Difference(x.below, y.below)}
	})
}

// combine merges the sorted nodes of both sets. keepA and keepB tell whether a node that only one has is
// kept; both makes one node of two. Nodes that are not kept are leapt over: the sets of thousands of managers are held against one large change.
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

// leapTo is nodes from a path element on, of which the first one lies before it. It takes as many steps as the distance has digits.
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

// A builder gathers the nodes of one level. Nodes mostly come sorted; only if they do not are they sorted
// at the end.
type builder struct {
	nodes    []node
	unsorted bool
	// duplicateIsLeaf: an element that is added twice has nothing below it. Of list items with the same
	// keys nobody can tell which one a longer path would mean.
	duplicateIsLeaf bool
}

// add adds what is at and below a path element, if there is anything. An element that is added twice
// counts once.
func (b *builder) add(at pathElement, member bool, below Set) {
	if !member && below.Empty() {
		return
	}
	if n := len(b.nodes); n > 0 && b.nodes[n-1].pathElement.compare(at) >= 0 {
		b.unsorted = true
	}
	b.nodes = append(b.nodes, node{at, member, below})
}

// set is the set of all that was added.
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

// belowAll is what nodes of one path element have below it.
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

// Paths lists the paths as users know them, such as .spec.containers[name="c"].image.
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
