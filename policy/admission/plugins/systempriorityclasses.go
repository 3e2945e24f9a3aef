package plugins

import (
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

var systemPriorityClassNames = map[string]bool{"system-node-critical": true, "system-cluster-critical": true}

// SystemPriorityClasses returns the plugin that rejects deletion of the system priority classes.
// Otherwise critical Pods that refer to them could not be recreated. The plugin cannot be disabled.
func SystemPriorityClasses() admission.Registration {
	return admission.Register("SystemPriorityClasses", systemClassKeeper{})
}

type systemClassKeeper struct{}

func (systemClassKeeper) Handles(a *request.Attributes) bool {
	return systemPriorityClassNames[a.Key.Name]
}

func (systemClassKeeper) Admit(a *request.Attributes) error {
	return a.Forbidden("this is a system priority class and cannot be deleted")
}
