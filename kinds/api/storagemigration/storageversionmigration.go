package storagemigration

import (
	"strconv"

	"github.com/troupe-api/troupe/kinds/schema"
)

type migrationStrategy struct {
	schema.DefaultStrategy
	schema.EmptyStatusOnCreate
}

func validateVersion(version, path string, faults *schema.Faults) {
	if _, err := strconv.ParseUint(version, 10, 64); err != nil || version[0] == '0' {
		faults.Invalid(path, version, "resource version is not well formed: "+version)
	}
}

// RuleFunctions maps names to validation functions. The declarative validation rules of the kinds
// call the functions by name.
var RuleFunctions = map[string]schema.CheckFunc{"migrationVersion": schema.TextCheck(validateVersion)}
