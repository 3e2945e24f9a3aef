package managedfields

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Reconciled adapts a set to the plan m, which may have changed. If a value has become atomic, the
// owners of its fields and items own the whole value. If it has become granular, its owners keep
// only the value's path. If nothing changes, the result is s itself.
//
// For example, if a CRD update makes the list spec.rules atomic, the manager of
// spec.rules[name="a"].host becomes the manager of spec.rules.
func Reconciled(m *schema.Message, s Set) Set {
	return s.mapped(func(n node) node {
		if f := m.Field(n.text); f != nil && n.kind == 'f' {
			return reconciledNode(f, false, n)
		}
		return n
	})
}

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

func sameRef(a, b Set) bool {
	return len(a.nodes) == len(b.nodes) && (len(a.nodes) == 0 || &a.nodes[0] == &b.nodes[0])
}
