package node

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// admitPVCStatus lets a node change only the claim status fields that expansion updates. It
// requires all other fields to be unchanged, so that new fields are forbidden by default.
func (r *restriction) admitPVCStatus(a nodeAttributes) error {
	if a.Subresource != "status" {
		return a.forbiddenf("may only update PVC status")
	}
	if a.operation() != "UPDATE" {
		return a.forbiddenf("unexpected operation %q", a.operation())
	}
	old, now := tree.Clone(a.Old).(tree.Tree), tree.Clone(a.New).(tree.Tree)
	for _, t := range []tree.Tree{old, now} {
		delete(t.Object("metadata"), "managedFields")
		delete(t.Object("metadata"), "resourceVersion")
		for _, field := range []string{"capacity", "conditions", "allocatedResources", "allocatedResourceStatuses"} {
			delete(t.Object("status"), field)
		}
	}
	if !tree.SemanticEqual(old, now) {
		return a.forbiddenf("node %q is not allowed to update fields other than status.quantity and status.conditions: %s", a.node, strings.Join(changedFields(old, now), ", "))
	}
	return nil
}

// changedFields returns the paths of changed fields, without their values, for an error message.
func changedFields(old, now tree.Tree) (paths []string) {
	for _, part := range unionKeys(old, now) {
		if tree.SemanticEqual(old[part], now[part]) {
			continue
		}
		for _, field := range unionKeys(old.Object(part), now.Object(part)) {
			if !tree.SemanticEqual(old.Object(part)[field], now.Object(part)[field]) {
				paths = append(paths, tree.FieldPath(part, field))
			}
		}
	}
	return paths
}

func unionKeys(a, b tree.Tree) []string {
	all := slices.Concat(a.SortedKeys(), b.SortedKeys())
	slices.Sort(all)
	return slices.Compact(all)
}
