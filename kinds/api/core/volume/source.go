package volume

import (
	"net"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
)

func validateQuobyteRegistry(registry, path string, faults *schema.Faults) {
	for _, pair := range strings.Split(registry, ",") {
		if _, _, err := net.SplitHostPort(pair); err != nil {
			faults.Invalid(path, registry, "must be a host:port pair or multiple pairs separated by commas")
		}
	}
}

// RuleFunctions contains the functions that declarative rules call by name.
var RuleFunctions = map[string]schema.CheckFunc{"quobyteRegistry": schema.TextCheck(validateQuobyteRegistry)}
