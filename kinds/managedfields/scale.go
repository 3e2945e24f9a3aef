package managedfields

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Scale restricts a write to the scale subresource. Its clients do not see the scaled object.
// They see only the managers that own the replicas, and conflicts refer to spec.replicas in the API
// version of the Scale.
type Scale struct {
	Replicas   []string // path of field names in the object
	APIVersion string   // version of the Scale, in which its clients see all managers
}

// Has reports whether an object has a replicas field, even if it is 0.
func (s *Scale) Has(t tree.Tree) bool {
	last := len(s.Replicas) - 1
	return t.Object(s.Replicas[:last]...).Has(s.Replicas[last])
}

func (s *Scale) existingFields(t tree.Tree) Set {
	last := len(s.Replicas) - 1
	if n, _ := t.Object(s.Replicas[:last]...).Int(s.Replicas[last]); n == 0 {
		return Set{}
	}
	return fieldSet(s.Replicas...)
}

func (w *Writer) visiblePaths(s Set) []string {
	if w.Scale != nil {
		return []string{".spec.replicas"}
	}
	return s.Paths()
}

func (w *Writer) visibleIdentity(i managerIdentity) managerIdentity {
	if w.Scale != nil {
		i.apiVersion = w.Scale.APIVersion
	}
	return i
}

func (s Set) hasField(path []string) bool {
	last := len(path) - 1
	for _, name := range path[:last] {
		s = s.below(fieldElement(name))
	}
	return s.has(fieldElement(path[last]))
}

func fieldSet(path ...string) Set {
	n := node{pathElement: fieldElement(path[0]), member: len(path) == 1}
	if !n.member {
		n.below = fieldSet(path[1:]...)
	}
	return Set{[]node{n}}
}
