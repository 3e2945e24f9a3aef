package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func revisionRules() schema.Rules {
	return schema.Rules{
		Validate:       func(obj tree.Tree, faults *schema.Faults) { field.NonNegative(obj, "", faults, "revision") },
		ValidateUpdate: validateRevisionUpdate,
		ValidateServed: func(obj, old tree.Tree, faults *schema.Faults) {
			if old == nil {
				validateRevisionData(obj["data"], faults)
			}
		},
	}
}

// validateRevisionData requires the data of a revision.
func validateRevisionData(data any, faults *schema.Faults) {
	if data == nil {
		faults.Required("data", "data is mandatory")
	} else if _, isObject := data.(tree.Tree); !isObject {
		faults.Required("data", "data must be a valid JSON object")
	}
}

// validateRevisionUpdate keeps the data. The number may change: for a rollback, a controller raises the
// number of the old revision.
func validateRevisionUpdate(obj, old tree.Tree, faults *schema.Faults) {
	if !tree.SemanticEqual(obj["data"], old["data"]) {
		faults.Invalid("data", obj["data"], "field is immutable")
	}
}
