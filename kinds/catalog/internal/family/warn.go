package family

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A WarnFunc is the Warn of schema.Rules.
type WarnFunc = func(obj, old tree.Tree) []string

// Warn adds warnings to rules, behind those that they have.
func Warn(r schema.Rules, more WarnFunc) schema.Rules {
	own := r.Warn
	r.Warn = more
	if own != nil {
		r.Warn = func(obj, old tree.Tree) []string { return append(own(obj, old), more(obj, old)...) }
	}
	r.WarnsOfChangesOnly = false
	return r
}

// WarnChanges adds warnings to rules that have none. A write that changes nothing gets none of them.
func WarnChanges(r schema.Rules, warn WarnFunc) schema.Rules {
	r.Warn, r.WarnsOfChangesOnly = warn, true
	return r
}
