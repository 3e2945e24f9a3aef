package field

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// PortNumber checks the number of a port.
func PortNumber(n int64, path string, faults *schema.Faults) {
	if n < 1 || n > 65535 {
		faults.Invalid(path, n, BoundsMsg(1, 65535))
	}
}

// IntOrStringPort checks a port that is a number or a name. Whether a container has a port of that name is
// found where it is used, not here.
func IntOrStringPort(v any, path string, faults *schema.Faults) {
	name, isName := v.(string)
	if !isName {
		n, _ := v.(int64)
		PortNumber(n, path, faults)
		return
	}
	for _, msg := range rules.PortName(name) {
		faults.Invalid(path, name, msg)
	}
}

// QualifiedName checks a name with an optional DNS prefix, such as example.com/name.
func QualifiedName(name, path string, faults *schema.Faults) {
	for _, msg := range rules.QualifiedName(name) {
		faults.Invalid(path, name, msg)
	}
}
