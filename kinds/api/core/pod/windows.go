package pod

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateHostProcesses checks Pods with Windows host processes: all containers must be host
// processes in the host network.
func validateHostProcesses(spec tree.Tree, path string, faults *schema.Faults) {
	pod, podSays := spec.Object("securityContext", "windowsOptions")["hostProcess"].(bool)
	containers, processes := 0, 0
	eachContainer(spec, path, func(c tree.Tree, at string) {
		own, says := c.Object("securityContext", "windowsOptions")["hostProcess"].(bool)
		if podSays && says && pod != own {
			faults.Invalid(at+".securityContext.windowsOptions.hostProcess", own, fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %t", pod))
		}
		if containers++; own || !says && pod {
			processes++
		}
	})
	if processes == 0 {
		return
	}
	if processes < containers {
		faults.Invalid(path, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers")
	}
	if !spec.Bool("hostNetwork") {
		faults.Invalid(path+".hostNetwork", false, "hostNetwork must be true if pod contains any hostProcess containers")
	}
}

func eachContainer(spec tree.Tree, path string, do func(c tree.Tree, at string)) {
	for _, list := range [...]string{"initContainers", "containers", "ephemeralContainers"} {
		for i, c := range spec.Objects(list) {
			do(c, tree.IndexPath(path+"."+list, i))
		}
	}
}
