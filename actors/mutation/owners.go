package mutation

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/tree"
)

// dropDuplicateOwners drops duplicate owner references from the desired state, with a warning.
func (p *Prepared) dropDuplicateOwners() {
	after := p.completed || isPatch(p.mutation) // a patch is checked once, with the changes of admission
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

// distinctOwners returns the owner references without duplicates, and the uids of the dropped ones.
// It keeps different references with the same uid, because validation rejects them. It uses a map
// instead of comparing all pairs, because a request may contain very many references.
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
