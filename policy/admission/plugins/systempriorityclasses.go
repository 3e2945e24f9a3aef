package plugins

import (
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// systemPriorityClassNames are the classes that are always there.
var systemPriorityClassNames = map[string]bool{"system-node-critical": true, "system-cluster-critical": true}

// SystemPriorityClasses keeps the classes of the system from being deleted. It always runs. Pods that keep
// nodes alive refer to them, and could not be created again without.
func SystemPriorityClasses() admission.Registration {
	return admission.Registration{
		Resources: []string{"scheduling.platform.io/priorityclasses"},
		Plugin:    request.Plugin{Operations: request.OnDelete, Mutator: systemClassKeeper{}},
	}
}

// systemClassKeeper has no state: the classes of the system are known by their names.
type systemClassKeeper struct{}

// Handles implements request.Mutator.
func (systemClassKeeper) Handles(a *request.Attributes) bool {
	return systemPriorityClassNames[a.Key.Name]
}

// Admit implements request.Mutator.
func (systemClassKeeper) Admit(a *request.Attributes) error {
	return a.Forbidden("this is a system priority class and cannot be deleted")
}
