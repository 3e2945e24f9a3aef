package catalog

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// writePodStatus changes the status. The class of a Pod stays, and a container that has
// ended for good does not come back.
func writePodStatus(obj, body schema.Tree, _ string, faults *schema.Faults) error {
	was, status := rules.Sub(obj, "status"), rules.Grow(body, "status")
	if rules.Text(status, "qosClass") == "" {
		rules.Carry(status, was, "qosClass")
	} else if class := rules.Text(was, "qosClass"); class != "" && rules.Text(status, "qosClass") != class {
		faults.Invalid("status.qosClass", rules.Text(status, "qosClass"), "field is immutable")
	}
	if node := rules.Text(status, "nominatedNodeName"); node != rules.Text(was, "nominatedNodeName") {
		formatted(status, "nominatedNodeName", "status", faults, rules.Subdomain)
	}
	notNegative(status, "status", faults, "observedGeneration")
	spec := rules.Sub(obj, "spec")
	if rules.Text(spec, "restartPolicy") != "Always" {
		validateEnded(spec, status, was, "containers", faults)
		validateEnded(spec, status, was, "initContainers", faults)
	}
	obj["status"] = status
	return nil
}

// statusLists are where the status tells of containers, by the list of the spec.
var statusLists = map[string]string{"containers": "containerStatuses", "initContainers": "initContainerStatuses"}

// validateEnded wants containers that have ended still ended. One that failed may be
// started again if the Pod's policy says so, and one with a policy of its own anyway.
func validateEnded(spec, status, was schema.Tree, list string, faults *schema.Faults) {
	own := map[string]bool{}
	for _, c := range rules.Trees(spec, list) {
		own[rules.Text(c, "name")] = rules.Text(c, "restartPolicy") != ""
	}
	now := rules.Trees(status, statusLists[list])
	for _, before := range rules.Trees(was, statusLists[list]) {
		name, ended := rules.Text(before, "name"), rules.Sub(before, "state", "terminated")
		code, _ := rules.Int(ended, "exitCode")
		if ended == nil || own[name] || code != 0 && rules.Text(spec, "restartPolicy") == "OnFailure" {
			continue
		}
		i := slices.IndexFunc(now, func(c schema.Tree) bool { return rules.Text(c, "name") == name })
		if i >= 0 && rules.Sub(now[i], "state", "terminated") == nil {
			faults.Forbidden(rules.At("status."+statusLists[list], i)+".state", "may not be transitioned to non-terminated state")
		}
	}
}

// defaultPodStatus keeps the address that stands alone the same as the first of all.
// Where they differ, the former is right, and is then the only one.
func defaultPodStatus(status schema.Tree) {
	single, all := rules.Text(status, "podIP"), rules.Trees(status, "podIPs")
	switch {
	case single != "" && (len(all) == 0 || rules.Text(all[0], "ip") != single):
		status["podIPs"] = []any{schema.Tree{"ip": single}}
	case single == "" && len(all) > 0:
		status["podIP"] = rules.Text(all[0], "ip")
	}
}
