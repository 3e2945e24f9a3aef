package flowcontrol

import (
	"github.com/troupe-api/troupe/kinds/catalog/flowcontrol"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Kinds lists the kinds of flow control with their functions.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "flowcontrol.apiserver.platform.io/v1/FlowSchema", Rules: flowSchemaRules(n)},
		{Name: "flowcontrol.apiserver.platform.io/v1/PriorityLevelConfiguration", Rules: priorityLevelRules()},
	}
}

// flowSchemaRules are the rules of FlowSchemas. What is fixed is made once, under the names of the profile.
func flowSchemaRules(n *meta.Naming) schema.Rules {
	fixed := mandatory(flowcontrol.FlowSchemas(n))
	return schema.Rules{Prepare: family.DropStatusOnCreate, Validate: func(obj tree.Tree, faults *schema.Faults) {
		validateFlowSchema(obj, fixed, faults)
	}}
}

// priorityLevelRules are the rules of PriorityLevelConfigurations. No level has a name that depends on the profile.
func priorityLevelRules() schema.Rules {
	fixed := mandatory(flowcontrol.PriorityLevels())
	return schema.Rules{Prepare: family.DropStatusOnCreate, Validate: func(obj tree.Tree, faults *schema.Faults) {
		validatePriorityLevel(obj, fixed, faults)
	}}
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
