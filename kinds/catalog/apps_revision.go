package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func revisionRules() schema.Rules {
	return schema.Rules{Validate: validateRevision, ValidateUpdate: validateRevisionUpdate}
}

func validateRevision(obj schema.Tree, faults *schema.Faults) {
	if !rules.Has(obj, "data") {
		faults.Required("data", "data is mandatory")
	}
	notNegative(obj, "", faults, "revision")
}

// validateRevisionUpdate lets nothing but metadata change. A change of the number is
// reported for the data, as users know it.
func validateRevisionUpdate(obj, old schema.Tree, faults *schema.Faults) {
	if !rules.Equal(obj["data"], old["data"]) || !rules.Equal(obj["revision"], old["revision"]) {
		faults.Invalid("data", obj["data"], "field is immutable")
	}
}
