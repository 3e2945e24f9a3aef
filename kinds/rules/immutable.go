package rules

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const fieldImmutable = "field is immutable"

// checkImmutable reports immutable fields that differ. It does not descend into lists, because it
// cannot match old and new items, and skips subtrees that both trees share.
func checkImmutable(e *schema.Evaluation, p *schema.Parts, t, old tree.Tree) {
	for i := range p.Immutable {
		f := &p.Immutable[i]
		if f.Parts == nil {
			if !f.Same(t[f.Name], old[f.Name]) {
				e.Invalid(e.PathOf(f.Name), t[f.Name], fieldImmutable)
			}
			continue
		}
		sub, ok := t[f.Name].(tree.Tree)
		was, had := old[f.Name].(tree.Tree)
		if (ok || had) && !tree.SameRef(sub, was) {
			back := e.EnterField(f.Name)
			checkImmutable(e, f.Parts, sub, was)
			e.Leave(back)
		}
	}
}
