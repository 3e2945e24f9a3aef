package ownership

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Scale says what a write of an object's scale sub-resource reaches. Managers who do not own the
// replicas are invisible to it.
//
// A scale has spec.replicas whatever the field is called in the object. Conflicts name that path, and the
// version of the scale, because its clients know no other.
type Scale struct {
	Replicas   []string // the path of their field names in the object
	APIVersion string   // of the scale; to its clients all managers have written in it
}

// Has tells whether an object has replicas, be it 0.
func (s *Scale) Has(t tree.Tree) bool {
	last := len(s.Replicas) - 1
	return t.Object(s.Replicas[:last]...).Has(s.Replicas[last])
}

// existingFields is what an object has for its scale.
func (s *Scale) existingFields(t tree.Tree) Set {
	last := len(s.Replicas) - 1
	if n, _ := t.Object(s.Replicas[:last]...).Int(s.Replicas[last]); n == 0 {
		return Set{}
	}
	return fieldSet(s.Replicas...)
}

// visiblePaths are the paths of a set as the writer is told of them in a conflict.
func (w *Writer) visiblePaths(s Set) []string {
	if w.Scale != nil {
		return []string{".spec.replicas"}
	}
	return s.Paths()
}

// visibleIdentity is a manager as the writer is told of it in a conflict.
func (w *Writer) visibleIdentity(i managerIdentity) managerIdentity {
	if w.Scale != nil {
		i.apiVersion = w.Scale.APIVersion
	}
	return i
}

// hasField tells whether the path of these fields is in s.
func (s Set) hasField(path []string) bool {
	last := len(path) - 1
	for _, name := range path[:last] {
		s = s.below(fieldElement(name))
	}
	return s.has(fieldElement(path[last]))
}

// fieldSet holds one path of fields.
func fieldSet(path ...string) Set {
	n := node{pathElement: fieldElement(path[0]), member: len(path) == 1}
	if !n.member {
		n.below = fieldSet(path[1:]...)
	}
	return Set{[]node{n}}
}
