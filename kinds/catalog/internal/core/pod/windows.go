package pod

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// What a Pod for Windows may not have, sorted as it is reported. Booleans of the Pod itself count when they are true.
var (
	noWindowsSwitches  = []string{"hostPID", "hostIPC"}
	noWindowsFields    = []string{"hostUsers", "shareProcessNamespace"}
	noWindowsSecurity  = []string{"appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "runAsUser", "runAsGroup", "supplementalGroupsPolicy", "seLinuxChangePolicy"}
	noWindowsLists     = []string{"sysctls", "supplementalGroups"}
	noWindowsContainer = []string{"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"}
)

// validateOS keeps a Pod that says for which operating system it is from what only the other one has. Nothing would
// enforce it there, and its author would believe to be protected.
func validateOS(spec tree.Tree, path string, faults *schema.Faults) {
	switch spec.Object("os").String("name") {
	case "linux":
		validateLinux(spec, path, faults)
	case "windows":
		validateWindows(spec, path, faults)
	}
	validateHostProcesses(spec, path, faults)
}

func validateLinux(spec tree.Tree, path string, faults *schema.Faults) {
	const why = "windows options cannot be set for a linux pod"
	if spec.Object("securityContext").Has("windowsOptions") {
		faults.Forbidden(path+".securityContext.windowsOptions", why)
	}
	eachContainer(spec, path, func(c tree.Tree, at string) {
		if c.Object("securityContext").Has("windowsOptions") {
			faults.Forbidden(at+".securityContext.windowsOptions", why)
		}
	})
}

func validateWindows(spec tree.Tree, path string, faults *schema.Faults) {
	refuse := func(at string, is bool) {
		if is {
			faults.Forbidden(at, "cannot be set for a windows pod")
		}
	}
	for _, name := range noWindowsSwitches {
		refuse(path+"."+name, spec.Bool(name))
	}
	for _, name := range noWindowsFields {
		refuse(path+"."+name, spec.Has(name))
	}
	security := spec.Object("securityContext")
	for _, name := range noWindowsSecurity {
		refuse(path+".securityContext."+name, security.Has(name))
	}
	for _, name := range noWindowsLists {
		refuse(path+".securityContext."+name, len(security.List(name)) > 0)
	}
	eachContainer(spec, path, func(c tree.Tree, at string) {
		security := c.Object("securityContext")
		for _, name := range noWindowsContainer {
			refuse(at+".securityContext."+name, security.Has(name))
		}
	})
}

// validateHostProcesses checks Pods whose containers are processes of a Windows node: all of them are, and in its network.
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

// eachContainer calls do for the containers of a spec at path, with the path of each.
func eachContainer(spec tree.Tree, path string, do func(c tree.Tree, at string)) {
	for _, list := range [...]string{"initContainers", "containers", "ephemeralContainers"} {
		for i, c := range spec.Objects(list) {
			do(c, tree.IndexPath(path+"."+list, i))
		}
	}
}
