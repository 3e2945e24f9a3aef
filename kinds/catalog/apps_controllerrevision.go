package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func revisionRules() schema.Rules {
	return schema.Rules{
		Validate:       func(obj schema.Tree, faults *schema.Faults) { validateNonNegative(obj, "", faults, "revision") },
		ValidateUpdate: validateRevisionUpdate,
		ValidateServed: func(obj, old schema.Tree, faults *schema.Faults) {
			if old == nil {
				validateRevisionData(obj["data"], faults)
			}
		},
	}
}

// validateRevisionData wants the state of a new revision, an object.
func validateRevisionData(data any, faults *schema.Faults) {
	if data == nil {
		faults.Required("data", "data is mandatory")
	} else if _, isObject := data.(schema.Tree); !isObject {
		faults.Required("data", "data must be a valid JSON object")
	}
}

// validateRevisionUpdate keeps the data. The number may change: a controller that rolls back
// raises that of the revision it goes back to.
func validateRevisionUpdate(obj, old schema.Tree, faults *schema.Faults) {
	if !rules.SemanticEqual(obj["data"], old["data"]) {
		faults.Invalid("data", obj["data"], "field is immutable")
	}
}
