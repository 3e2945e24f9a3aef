package ownership

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Scale says what a write of an object's scale reaches. To it, managers who do not own the
// replicas are none.
type Scale struct {
	Replicas   []string // the path of their field names in the object
	APIVersion string   // of the scale, which all managers seem to have written
}

// Has tells whether an object has replicas, be it 0.
func (s *Scale) Has(t schema.Tree) bool {
	last := len(s.Replicas) - 1
	return rules.Has(rules.Sub(t, s.Replicas[:last]...), s.Replicas[last])
}

// there is what an object has for its scale.
func (s *Scale) there(t schema.Tree) Set {
	last := len(s.Replicas) - 1
	if n, _ := rules.Int(rules.Sub(t, s.Replicas[:last]...), s.Replicas[last]); n == 0 {
		return Set{}
	}
	return fieldSet(s.Replicas...)
}

// names are the paths of a set as the writer is told of them.
func (w *Writer) names(s Set) []string {
	if w.Scale != nil {
		return []string{".spec.replicas"}
	}
	return s.Paths()
}

// sees is a manager as the writer is told of it.
func (w *Writer) sees(i identity) identity {
	if w.Scale != nil {
		i.apiVersion = w.Scale.APIVersion
	}
	return i
}

// hasField tells whether the path of these fields is in s.
func (s Set) hasField(path []string) bool {
	last := len(path) - 1
	for _, name := range path[:last] {
		s = s.below(fieldStep(name))
	}
	return s.has(fieldStep(path[last]))
}

// fieldSet holds one path of fields.
func fieldSet(path ...string) Set {
	n := node{step: fieldStep(path[0]), member: len(path) == 1}
	if !n.member {
		n.below = fieldSet(path[1:]...)
	}
	return Set{[]node{n}}
}
