package pod

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// writePodStatus changes the status. The class of a Pod stays, and a container that has
// ended for good does not come back.
func writePodStatus(obj, body tree.Tree, _ string, faults *schema.Faults) error {
	was, status := obj.Object("status"), body.EnsureObject("status")
	if status.String("qosClass") == "" {
		status.CopyField(was, "qosClass")
	} else if class := was.String("qosClass"); class != "" && status.String("qosClass") != class {
		faults.Invalid("status.qosClass", status.String("qosClass"), "field is immutable")
	}
	if node := status.String("nominatedNodeName"); node != was.String("nominatedNodeName") {
		field.Format(status, "nominatedNodeName", "status", faults, rules.Subdomain)
	}
	field.NonNegative(status, "status", faults, "observedGeneration")
	spec := obj.Object("spec")
	if spec.String("restartPolicy") != "Always" {
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
func validateTerminatedContainers(spec, status, was tree.Tree, list string, faults *schema.Faults) {
	own := map[string]bool{}
	for _, c := range spec.Objects(list) {
		own[c.String("name")] = c.String("restartPolicy") != ""
	}
	now := status.Objects(containerStatusLists[list])
	for _, before := range was.Objects(containerStatusLists[list]) {
		name, ended := before.String("name"), before.Object("state", "terminated")
		code, _ := ended.Int("exitCode")
		if ended == nil || own[name] || code != 0 && spec.String("restartPolicy") == "OnFailure" {
			continue
		}
		i := slices.IndexFunc(now, func(c tree.Tree) bool { return c.String("name") == name })
		if i >= 0 && now[i].Object("state", "terminated") == nil {
			faults.Forbidden(tree.IndexPath("status."+containerStatusLists[list], i)+".state", "may not be transitioned to non-terminated state")
		}
	}
}

// defaultPodStatus keeps the address that stands alone the same as the first of all.
// Where they differ, the former is right, and is then the only one.
func defaultPodStatus(status tree.Tree) {
	single, all := status.String("podIP"), status.Objects("podIPs")
	switch {
	case single != "" && (len(all) == 0 || all[0].String("ip") != single):
		status["podIPs"] = []any{tree.Tree{"ip": single}}
	case single == "" && len(all) > 0:
		status["podIP"] = all[0].String("ip")
	}
}
