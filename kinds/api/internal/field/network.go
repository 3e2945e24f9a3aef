package field

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// QualifiedName checks a name with an optional DNS prefix, such as example.com/name.
func QualifiedName(name, path string, faults *schema.Faults) {
	for _, msg := range rules.QualifiedName(name) {
		faults.Invalid(path, name, msg)
	}
}
