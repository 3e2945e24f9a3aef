package family

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Unenforced adds a warning to the rules of a kind whose objects are stored but have no effect on this
// server. what says what does not happen; it is added to every response to a write.
func Unenforced(r schema.Rules, what string) schema.Rules {
	return UnenforcedWhere(r, func(tree.Tree) bool { return true }, what)
}

// UnenforcedWhere is Unenforced for the objects for which hasNoEffect is true.
func UnenforcedWhere(r schema.Rules, hasNoEffect func(obj tree.Tree) bool, what string) schema.Rules {
	texts := []string{"this server stores the object and does not enforce it: " + what}
	return Warn(r, func(obj, _ tree.Tree) []string {
		if hasNoEffect(obj) {
			return texts
		}
		return nil
	})
}
