package volume

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxDriverName bounds the name of a storage driver, in bytes.
const maxDriverName = 63

// ValidateDriverName checks the name of a storage driver: a subdomain in any case.
func ValidateDriverName(t tree.Tree, name, path string, faults *schema.Faults) {
	path = tree.FieldPath(path, name)
	driver := t.String(name)
	if driver == "" {
		faults.Required(path)
		return
	}
	if len(driver) > maxDriverName {
		faults.TooLong(path, maxDriverName)
	}
	for _, msg := range rules.Subdomain(strings.ToLower(driver)) {
		faults.Invalid(path, driver, msg)
	}
}
