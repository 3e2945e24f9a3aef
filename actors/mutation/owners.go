package mutation

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/tree"
)

// dropDuplicateOwners drops owner references of the wanted state that equal an earlier one, and warns of
// them.
func (p *Prepared) dropDuplicateOwners() {
	after := p.completed || isPatch(p.mutation) // a patch is looked at once, with what admission makes of it
	p.completed = true
	metadata := childObject(p.want, "metadata")
	owners := metadata.List("ownerReferences")
	if len(owners) < 2 {
		return
	}
	kept, dropped := distinctOwners(owners)
	if len(dropped) == 0 {
		return
	}
	metadata["ownerReferences"] = kept
	when := ""
	if after {
		when = " after mutating admission happens"
	}
	p.mutation.Recorder.Warn(".metadata.ownerReferences contains duplicate entries" + when +
		"; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " +
		strings.Join(dropped, ", "))
}

// distinctOwners are the references without those that equal an earlier one, and the uids of those. References
// of one uid that differ are left for validation.
//
// Each is looked up by its text, since they are counted only by the size of the request: comparing each with each
// would hold up the object for seconds.
func distinctOwners(owners []any) (kept []any, dropped []string) {
	seen := make(map[string]bool, len(owners))
	var text []byte
	for _, v := range owners {
		if text = codec.AppendAny(text[:0], v); seen[string(text)] {
			owner, _ := v.(tree.Tree)
			dropped = append(dropped, owner.String("uid"))
			continue
		}
		seen[string(text)] = true
		kept = append(kept, v)
	}
	return kept, dropped
}
