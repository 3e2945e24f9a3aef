package flowcontrol

import (
	"github.com/troupe-api/troupe/kinds/catalog/flowcontrol"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Kinds lists the kinds of flow control with their strategies.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "flowcontrol.apiserver.platform.io/v1/FlowSchema", Strategy: flowSchemaStrategy{fixed: mandatory(flowcontrol.FlowSchemas(n))}},
		{Name: "flowcontrol.apiserver.platform.io/v1/PriorityLevelConfiguration", Strategy: priorityLevelStrategy{fixed: mandatory(flowcontrol.PriorityLevels())}},
	}
}

// flowSchemaStrategy holds fixed objects against their specs, under the names of the profile.
type flowSchemaStrategy struct {
	schema.DefaultStrategy
	family.DropStatusOnCreate
	fixed map[string]tree.Tree
}

func (s flowSchemaStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	validateFlowSchema(obj, s.fixed, faults)
}

// priorityLevelStrategy needs no profile: no level has a name that depends on it.
type priorityLevelStrategy struct {
	schema.DefaultStrategy
	family.DropStatusOnCreate
	fixed map[string]tree.Tree
}

func (s priorityLevelStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	validatePriorityLevel(obj, s.fixed, faults)
}

// mandatory are the specs that are fixed, by the names of the objects. Suggested objects are not among them:
// operators may change those.
func mandatory(objects []flowcontrol.Object) map[string]tree.Tree {
	fixed := map[string]tree.Tree{}
	for _, o := range objects {
		if o.Mandatory {
			fixed[o.Name] = o.Spec
		}
	}
	return fixed
}
