package flowcontrol

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Kinds returns the group's kinds with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "flowcontrol.apiserver.platform.io/v1/FlowSchema", Strategy: strategy{}},
		{Name: "flowcontrol.apiserver.platform.io/v1/PriorityLevelConfiguration", Strategy: strategy{}},
	}
}

type strategy struct {
	schema.DefaultStrategy
	schema.DropStatusOnCreate
}

// RuleFunctions returns the functions that declarative rules call by name.
func RuleFunctions(n *meta.Naming) map[string]schema.CheckFunc {
	return map[string]schema.CheckFunc{
		"fixedFlowSchema":    schema.ObjectCheck(mandatory(FlowSchemas(n)).validateSchema),
		"fixedPriorityLevel": schema.ObjectCheck(mandatory(PriorityLevels()).validateLevel),
		"handSize":           schema.ObjectCheck(validateHandSize),
	}
}

type fixedSpecs map[string]tree.Tree

func (f fixedSpecs) validateSchema(obj tree.Tree, _ string, faults *schema.Faults) {
	spec, name := obj.Object("spec"), obj.Name()
	if want, ok := f[name]; ok && !tree.SemanticEqual(spec, want) {
		faults.Invalid("spec", spec, fmt.Sprintf("spec of '%s' must equal the fixed value", name))
	}
}

func mandatory(objects []Object) fixedSpecs {
	fixed := fixedSpecs{}
	for _, o := range objects {
		if o.Mandatory {
			fixed[o.Name] = o.Spec
		}
	}
	return fixed
}
