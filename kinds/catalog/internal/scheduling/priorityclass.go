package scheduling

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// highestPriority is the highest priority of user-defined classes; higher ones are the system's.
const highestPriority = 1_000_000_000

// systemPriorities are the classes above highestPriority, by name. Their values leave room above every
// user's class.
var systemPriorities = map[string]int64{
	"system-cluster-critical": 2 * highestPriority,
	"system-node-critical":    2*highestPriority + 1000,
}

// priorityClassStrategy does not compare classes with each other: that there is one default is
// checked by admission, which sees them all.
type priorityClassStrategy struct{ schema.DefaultStrategy }

// Prepare gives a new class its one generation: no update of a class is counted.
func (priorityClassStrategy) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj.EnsureObject("metadata")["generation"] = int64(1)
	}
}

// The names that begin with system- and the values above a billion are for components without which a node does not
// work. A user who could take them could displace these components from every node.
func (priorityClassStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	name := obj.Object("metadata").String("name")
	value, _ := obj.Int("value")
	switch {
	case strings.HasPrefix(name, "system-"):
		if why := systemPriorityError(name, value, obj.Bool("globalDefault")); why != "" {
			faults.Forbidden("metadata.name", "priority class names with 'system-' prefix are reserved for system use only. error: "+why)
		}
	case value > highestPriority:
		faults.Forbidden("value", fmt.Sprintf("maximum allowed value of a user defined priority is %d", highestPriority))
	}
}

// systemPriorityError is the reason why a class is not one of the system's; "" if it is.
func systemPriorityError(name string, value int64, globalDefault bool) string {
	want, known := systemPriorities[name]
	switch {
	case !known:
		return name + " is not a known system priority class"
	case value != want:
		return fmt.Sprintf("value of %s PriorityClass must be %d", name, want)
	case globalDefault:
		return fmt.Sprintf("globalDefault of %s PriorityClass must be false", name)
	}
	return ""
}

// Pods have copied the value when they were made. A change would split the Pods of a class in two, with nothing to
// show which have which.
func (priorityClassStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	if !tree.SemanticEqual(obj["value"], old["value"]) {
		faults.Forbidden("value", "may not be changed in an update.")
	}
}
