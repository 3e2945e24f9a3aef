package plugins

import (
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// SecurityContextDeny returns the plugin that rejects Pods that set user, groups or SELinux labels.
// It is superseded by Pod Security and kept for existing configurations.
func SecurityContextDeny() admission.Registration {
	return admission.Register("SecurityContextDeny", securityContextDeny{})
}

type securityContextDeny struct{ request.HandlesAll }

type deniedField struct{ field, name string }

var (
	deniedOfPods       = []deniedField{{"supplementalGroups", "SupplementalGroups"}, {"seLinuxOptions", "SELinuxOptions"}, {"runAsUser", "RunAsUser"}, {"fsGroup", "FSGroup"}}
	deniedOfContainers = []deniedField{{"seLinuxOptions", "SELinuxOptions"}, {"runAsUser", "RunAsUser"}}
)

func (securityContextDeny) Validate(a *request.Attributes) error {
	spec := a.New.Object("spec")
	if name := deniedIn(spec, deniedOfPods); name != "" {
		return a.Forbidden("pod.Spec.SecurityContext." + name + " is forbidden")
	}
	for _, c := range containers(spec, podContainers...) {
		if name := deniedIn(c, deniedOfContainers); name != "" {
			return a.Forbidden("SecurityContext." + name + " is forbidden")
		}
	}
	return nil
}

func deniedIn(t tree.Tree, denied []deniedField) string {
	context := t.Object("securityContext")
	for _, d := range denied {
		if context.Has(d.field) {
			return d.name
		}
	}
	return ""
}
