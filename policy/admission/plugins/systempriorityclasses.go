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
		Resources: []string{"scheduling.platform.io/priorityclasses"}, Operations: []request.Verb{request.Delete},
		Plugin: systemClassKeeper{},
	}
}

// systemClassKeeper has no state: the classes of the system are known by their names.
type systemClassKeeper struct{}

// Admit implements admission.Admitter.
func (systemClassKeeper) Admit(a *admission.Attributes) error {
	if systemPriorityClassNames[a.Key.Name] {
		return a.Forbidden("this is a system priority class and cannot be deleted")
	}
	return nil
}
