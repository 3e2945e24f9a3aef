package ownership

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Reconciled brings a set in line with the plan m, which may have changed since the set was written: who
// owned parts of what is now owned as a whole owns the whole. In the other direction there is nothing to
// do: who owned the whole owns no part. The result is s itself if nothing changes.
//
// An example: while spec.rules is a list with keys, a manager owns spec.rules[name="a"].host. After the
// definition has made the list atomic, that manager owns spec.rules.
func Reconciled(m *schema.Message, s Set) Set {
	return s.mapped(func(n node) node {
		if f := m.Field(n.text); f != nil && n.kind == 'f' {
			return reconciledNode(f, false, n)
		}
		return n
	})
}

// reconciledNode is Reconciled for the paths through one field, or through an element of it.
func reconciledNode(f *schema.Field, element bool, n node) node {
	if n.below.Empty() {
		return n
	}
	switch granularity := granularityOf(f, element); {
	case granularity == byField:
		n.below = Reconciled(f.Message, n.below)
	case granularity != atomic:
		n.below = n.below.mapped(func(n node) node { return reconciledNode(f, true, n) })
	case !element && f.Shape != schema.Single || f.Type == schema.TypeMessage:
		return node{pathElement: n.pathElement, member: true}
	}
	return n
}

// mapped is a set with each node replaced; s itself if all stay the same.
func (s Set) mapped(change func(node) node) Set {
	out := s
	for i, old := range s.nodes {
		n := change(old)
		if n.member == old.member && sameRef(n.below, old.below) {
			continue
		}
		if sameRef(out, s) {
			out = Set{slices.Clone(s.nodes)}
		}
		out.nodes[i] = n
	}
	return out
}

// sameRef tells whether two sets are the same one in memory.
func sameRef(a, b Set) bool {
	return len(a.nodes) == len(b.nodes) && (len(a.nodes) == 0 || &a.nodes[0] == &b.nodes[0])
}
