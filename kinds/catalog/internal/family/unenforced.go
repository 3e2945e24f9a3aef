package family

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Unenforced are the rules of a kind that is stored, and whose objects have no effect on this server:
// everybody who writes one is told so. what says what does not happen.
func Unenforced(r schema.Rules, what string) schema.Rules {
	return UnenforcedWhere(func(tree.Tree) bool { return true }, r, what)
}

// UnenforcedWhere are unenforced rules for those objects alone of which that is true.
func UnenforcedWhere(vain func(obj tree.Tree) bool, r schema.Rules, what string) schema.Rules {
	text, more := "this server stores the object and does not enforce it: "+what, r.Warn
	r.Warn = func(obj, old tree.Tree) (texts []string) {
		if more != nil {
			texts = more(obj, old)
		}
		if vain(obj) {
			texts = append(texts, text)
		}
		return texts
	}
	return r
}
