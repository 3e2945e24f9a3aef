package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// mergeTolerations concatenates two lists and omits tolerations that another toleration covers. It
// keeps the first of equal tolerations. It is idempotent, because plugins may run more than once.
func mergeTolerations(first, second []tree.Tree) []any {
	all := slices.Concat(first, second)
	var merged []any
	for i, t := range all {
		included := slices.ContainsFunc(merged, func(m any) bool { return includesToleration(m.(tree.Tree), t) }) ||
			slices.ContainsFunc(all[i+1:], func(other tree.Tree) bool { return includesToleration(other, t) && !tree.SemanticEqual(other, t) })
		if !included {
			merged = append(merged, t)
		}
	}
	return merged
}

// includesToleration reports whether wide tolerates everything that narrow tolerates. An empty
// operator in wide means Equal.
func includesToleration(wide, narrow tree.Tree) bool {
	effect := wide.String("effect")
	switch {
	case tree.SemanticEqual(wide, narrow):
		return true
	case narrow.String("key") != wide.String("key") && (wide.String("key") != "" || wide.String("operator") != "Exists"):
		return false
	case effect != "" && effect != narrow.String("effect"):
		return false
	case effect == "NoExecute" && !staysAsLong(wide, narrow):
		return false
	}
	switch wide.String("operator") {
	case "Exists":
		return true
	case "", "Equal":
		return narrow.String("operator") == "Equal" && narrow.String("value") == wide.String("value")
	}
	return false
}

// staysAsLong reports whether wide tolerates a taint at least as long as narrow. Without
// tolerationSeconds, a taint is tolerated forever.
func staysAsLong(wide, narrow tree.Tree) bool {
	most, limited := wide.Int("tolerationSeconds")
	seconds, ends := narrow.Int("tolerationSeconds")
	return !limited || ends && seconds <= most
}

func cloneTolerations(list []tree.Tree) []tree.Tree {
	copies := make([]tree.Tree, len(list))
	for i, t := range list {
		copies[i], _ = tree.Clone(t).(tree.Tree)
	}
	return copies
}
