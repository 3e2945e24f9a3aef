package ownership

// Scaled are those of an object's managers who own its replicas, at a path of field names,
// as a scale of version apiVersion shows them: as owners of its spec.replicas.
func Scaled(managed []any, replicas []string, apiVersion string) []any {
	var shown managers
	for _, m := range decode(managed, nowhere) {
		if m.owned().hasField(replicas) {
			m.set, m.version, m.entry = fieldSet("spec", "replicas"), apiVersion, nil
			shown = append(shown, m)
		}
	}
	return shown.encode()
}

// nowhere has no plan for any version.
func nowhere(string) (Form, bool) { return Form{}, false }

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
