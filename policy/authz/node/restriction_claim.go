package node

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// admitPVCStatus lets a node write of a claim only how far its volume has grown. Both sides are compared
// without what a node may write, so a field that is added later is forbidden until it is named here.
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

// changedFields are the paths of what differs between two objects, down to the fields of their parts. The
// message lists paths and no values: it is for finding out which agent is wrong.
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

// unionKeys are the sorted names of the fields of either.
func unionKeys(a, b tree.Tree) []string {
	all := slices.Concat(a.SortedKeys(), b.SortedKeys())
	slices.Sort(all)
	return slices.Compact(all)
}
