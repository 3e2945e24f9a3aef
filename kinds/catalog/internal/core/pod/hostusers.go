package pod

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateHostUsers checks what depends on whether the Pod has the users of the host, as it has unless it says
// otherwise, or its own.
//
// A Pod with users of its own has other user ids than the host, and could not own what it shares with it.
func validateHostUsers(spec tree.Tree, path string, faults *schema.Faults) {
	hostUsers, set := spec["hostUsers"].(bool)
	if !set || hostUsers {
		validateMaskedProc(spec, path, faults)
		return
	}
	// The capital letters of two paths are those that clients know.
	for _, shared := range [...]struct{ field, shown string }{
		{"hostNetwork", "hostNetwork"}, {"hostPID", "HostPID"}, {"hostIPC", "HostIPC"},
	} {
		if spec.Bool(shared.field) {
			faults.Forbidden(path+"."+shared.shown, "when `hostUsers` is false")
		}
	}
	for _, list := range [...]string{"initContainers", "containers", "ephemeralContainers"} {
		for i, c := range spec.Objects(list) {
			if len(c.List("volumeDevices")) > 0 {
				faults.Forbidden(tree.IndexPath(path+"."+list, i)+".volumeDevices", "when `hostUsers` is false")
			}
		}
	}
}

// validateMaskedProc keeps containers that run as users of the host from all of its /proc. The mask hides
// kernel settings of the host. With users of its own, root in the container has no rights on them anyway.
func validateMaskedProc(spec tree.Tree, path string, faults *schema.Faults) {
	for _, list := range [...]string{"containers", "initContainers", "ephemeralContainers"} {
		for i, c := range spec.Objects(list) {
			if mount := c.Object("securityContext").String("procMount"); mount == "Unmasked" {
				at := tree.IndexPath(path+"."+list, i)
				faults.Invalid(at+".securityContext.procMount", mount, "`hostUsers` must be false to use `Unmasked`")
			}
		}
	}
}
