package apps

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The data is required in a create alone: a revision that was stored without any must remain deletable and
// changeable.
type revisionStrategy struct{ schema.DefaultStrategy }

func (revisionStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	if old == nil {
		validateRevisionData(obj["data"], faults)
	}
}

// validateRevisionData requires the data of a revision.
//
// The data is what a controller needs to go back to an earlier template; the server does not look into it.
func validateRevisionData(data any, faults *schema.Faults) {
	if data == nil {
		faults.Required("data", "data is mandatory")
	} else if _, isObject := data.(tree.Tree); !isObject {
		faults.Required("data", "data must be a valid JSON object")
	}
}
