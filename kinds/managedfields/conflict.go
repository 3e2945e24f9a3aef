package managedfields

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// conflicts returns the changed fields that other managers own. Removals do not conflict, because
// an apply removes only fields that no other manager owns.
func (u *update) conflicts(all managers, self *manager) map[*manager]Set {
	found := map[*manager]Set{}
	for _, m := range all {
		if m == self {
			continue
		}
		d, ok := u.difference(m.version)
		if !ok {
			continue
		}
		if !m.mayOwn(d.changed) {
			continue
		}
		if s := Intersection(m.owned(), d.changed); !s.Empty() {
			found[m] = s
		}
	}
	return found
}

// newConflict returns the Status for an apply that changes fields of other managers. For one field,
// the message is:
//
//	Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas
//
// For several fields, it lists each manager with its fields, one per line. The causes contain the
// same conflicts in structured form.
func newConflict(w Writer, found map[*manager]Set) *meta.Status {
	holders := make([]*manager, 0, len(found))
	for m := range found {
		holders = append(holders, m)
	}
	slices.SortFunc(holders, func(a, b *manager) int { return a.managerIdentity.compare(b.managerIdentity) })
	var causes []meta.Cause
	var lines []string
	for _, m := range holders {
		who := w.visibleIdentity(m.managerIdentity)
		lines = append(lines, fmt.Sprintf("conflicts with %s:", who))
		for _, path := range w.visiblePaths(found[m]) {
			lines = append(lines, "- "+path)
			causes = append(causes, meta.Cause{Type: meta.CauseFieldConflict, Field: path, Message: "conflict with " + who.String()})
		}
	}
	text := fmt.Sprintf("Apply failed with %d conflicts: %s", len(causes), strings.Join(lines, "\n"))
	if len(causes) == 1 {
		text = fmt.Sprintf("Apply failed with 1 conflict: %s: %s", causes[0].Message, causes[0].Field)
	}
	return meta.NewApplyConflict(text, causes)
}
