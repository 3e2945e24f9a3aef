package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// mergeTolerations are the tolerations of both lists, without those that another one includes. Of equal
// ones the first stays. The plugins that merge run more than once, so the list must not grow by doing so.
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

// includesToleration tells whether a Pod with the toleration wide tolerates all that it does with narrow.
// An empty operator is Equal. The checks go from the key to the value, each of which may be wider in wide.
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

// staysAsLong tells whether a Pod stays with the toleration wide for as long as with narrow. One without
// seconds stays for ever.
func staysAsLong(wide, narrow tree.Tree) bool {
	most, limited := wide.Int("tolerationSeconds")
	seconds, ends := narrow.Int("tolerationSeconds")
	return !limited || ends && seconds <= most
}

// cloneTolerations are copies, for the spec of a Pod.
func cloneTolerations(list []tree.Tree) []tree.Tree {
	copies := make([]tree.Tree, len(list))
	for i, t := range list {
		copies[i], _ = tree.Clone(t).(tree.Tree)
	}
	return copies
}
