package plugins

import (
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// SecurityContextDeny refuses Pods that choose the user, the groups or the SELinux label that they run
// with. It is older than pod security levels, which replace it, and kept for configurations that name it.
func SecurityContextDeny() admission.Registration {
	return admission.Registration{
		Name: "SecurityContextDeny", Resources: []string{"/pods"},
		Plugin: request.Plugin{Operations: request.OnCreate | request.OnUpdate, Validator: securityContextDeny{}},
	}
}

// securityContextDeny has no state: the fields that it denies are fixed.
type securityContextDeny struct{ request.HandlesAll }

// A deniedField is a field of a security context, and its name in refusals. The names have the spelling
// that clients know.
type deniedField struct{ field, name string }

// The denied fields of the security context of a Pod and of its containers, each with the name that refusals use.
var (
	deniedOfPods       = []deniedField{{"supplementalGroups", "SupplementalGroups"}, {"seLinuxOptions", "SELinuxOptions"}, {"runAsUser", "RunAsUser"}, {"fsGroup", "FSGroup"}}
	deniedOfContainers = []deniedField{{"seLinuxOptions", "SELinuxOptions"}, {"runAsUser", "RunAsUser"}}
)

// Validate implements request.Validator.
func (securityContextDeny) Validate(a *request.Attributes) (err error) {
	spec := a.New.Object("spec")
	if name := deniedIn(spec, deniedOfPods); name != "" {
		return a.Forbidden("pod.Spec.SecurityContext." + name + " is forbidden")
	}
	eachContainer(spec, podContainers, func(c tree.Tree, _ string, _ int) bool {
		if name := deniedIn(c, deniedOfContainers); name != "" {
			err = a.Forbidden("SecurityContext." + name + " is forbidden")
		}
		return err == nil
	})
	return err
}

// deniedIn is the name of the first denied field in the security context of t; "" if it has none.
func deniedIn(t tree.Tree, denied []deniedField) string {
	context := t.Object("securityContext")
	for _, d := range denied {
		if context.Has(d.field) {
			return d.name
		}
	}
	return ""
}
