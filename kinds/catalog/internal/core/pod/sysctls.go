package pod

import (
	"fmt"
	"regexp"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxSysctlName bounds the name of a parameter of the kernel, in bytes.
const maxSysctlName = 253

// sysctlName is a name whose parts are separated by dots or slashes, as in kernel.shm_rmid_forced.
var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

// validateSysctls checks the names of kernel parameters, each given once. The declaration requires a name.
func validateSysctls(sysctls []tree.Tree, path string, faults *schema.Faults) {
	seen := rules.Seen{}
	for i, s := range sysctls {
		name, at := s.String("name"), tree.IndexPath(path, i)+".name"
		switch {
		case name == "":
		case len(name) > maxSysctlName || !sysctlName.MatchString(name):
			faults.Invalid(at, name, fmt.Sprintf("must have at most %d characters and match regex %s", maxSysctlName, sysctlName))
		case seen.Repeats(name):
			faults.Duplicate(at, name)
		}
	}
}
