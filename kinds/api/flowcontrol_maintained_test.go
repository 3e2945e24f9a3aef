package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/api/flowcontrol"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TestMaintainedObjects checks that maintained objects are valid in both naming profiles, and that
// defaulting does not change them.
func TestMaintainedObjects(t *testing.T) {
	for _, n := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		for kind, objects := range map[string][]flowcontrol.Object{"FlowSchema": flowcontrol.FlowSchemas(n), "PriorityLevelConfiguration": flowcontrol.PriorityLevels()} {
			k := KindByGVK(t, n, n.Group("flowcontrol.apiserver"), "v1", kind)
			for _, o := range objects {
				obj, faults := create(k, tree.Tree{"metadata": tree.Tree{"name": o.Name}, "spec": tree.Clone(o.Spec)})
				if len(faults) > 0 || !tree.StrictEqual(obj.Object("spec"), o.Spec) {
					t.Errorf("%s %s is declared as %v, stored as %v: %v", kind, o.Name, o.Spec, obj["spec"], faults)
				}
			}
		}
	}
}
