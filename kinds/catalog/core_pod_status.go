package catalog

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// writePodStatus changes the status. The class of a Pod stays, and a container that has
// ended for good does not come back.
func writePodStatus(obj, body schema.Tree, _ string, faults *schema.Faults) error {
	was, status := rules.Nested(obj, "status"), rules.EnsureNested(body, "status")
	if rules.String(status, "qosClass") == "" {
		rules.CopyField(status, was, "qosClass")
	} else if class := rules.String(was, "qosClass"); class != "" && rules.String(status, "qosClass") != class {
		faults.Invalid("status.qosClass", rules.String(status, "qosClass"), "field is immutable")
	}
	if node := rules.String(status, "nominatedNodeName"); node != rules.String(was, "nominatedNodeName") {
		validateFormat(status, "nominatedNodeName", "status", faults, rules.Subdomain)
	}
	validateNonNegative(status, "status", faults, "observedGeneration")
	spec := rules.Nested(obj, "spec")
	if rules.String(spec, "restartPolicy") != "Always" {
		validateTerminatedContainers(spec, status, was, "containers", faults)
		validateTerminatedContainers(spec, status, was, "initContainers", faults)
	}
	obj["status"] = status
	return nil
}

// containerStatusLists are where the status tells of containers, by the list of the spec.
var containerStatusLists = map[string]string{"containers": "containerStatuses", "initContainers": "initContainerStatuses"}

// validateTerminatedContainers wants containers that have ended still ended. One that failed may be
// started again if the Pod's policy says so, and one with a policy of its own anyway.
func validateTerminatedContainers(spec, status, was schema.Tree, list string, faults *schema.Faults) {
	own := map[string]bool{}
	for _, c := range rules.Trees(spec, list) {
		own[rules.String(c, "name")] = rules.String(c, "restartPolicy") != ""
	}
	now := rules.Trees(status, containerStatusLists[list])
	for _, before := range rules.Trees(was, containerStatusLists[list]) {
		name, ended := rules.String(before, "name"), rules.Nested(before, "state", "terminated")
		code, _ := rules.Int(ended, "exitCode")
		if ended == nil || own[name] || code != 0 && rules.String(spec, "restartPolicy") == "OnFailure" {
			continue
		}
		i := slices.IndexFunc(now, func(c schema.Tree) bool { return rules.String(c, "name") == name })
		if i >= 0 && rules.Nested(now[i], "state", "terminated") == nil {
			faults.Forbidden(rules.IndexPath("status."+containerStatusLists[list], i)+".state", "may not be transitioned to non-terminated state")
		}
	}
}

// defaultPodStatus keeps the address that stands alone the same as the first of all.
// Where they differ, the former is right, and is then the only one.
func defaultPodStatus(status schema.Tree) {
	single, all := rules.String(status, "podIP"), rules.Trees(status, "podIPs")
	switch {
	case single != "" && (len(all) == 0 || rules.String(all[0], "ip") != single):
		status["podIPs"] = []any{schema.Tree{"ip": single}}
	case single == "" && len(all) > 0:
		status["podIP"] = rules.String(all[0], "ip")
	}
}
