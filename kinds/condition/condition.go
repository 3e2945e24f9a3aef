package condition

import "github.com/troupe-api/troupe/kinds/tree"

// Find returns the condition of a type in a status, not a copy; nil if there is none.
func Find(status tree.Tree, kind string) tree.Tree {
	return FindIn(status.Objects("conditions"), kind)
}

// FindIn is Find in a list of conditions.
func FindIn(conditions []tree.Tree, kind string) tree.Tree {
	for _, c := range conditions {
		if c.String("type") == kind {
			return c
		}
	}
	return nil
}

// IsTrue reports whether the condition of a type in a status is True.
func IsTrue(status tree.Tree, kind string) bool {
	return Find(status, kind).String("status") == "True"
}
