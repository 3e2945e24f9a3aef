package pod

import (
	"math"
	"slices"

	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// writePodStatus replaces the status except for the QoS class. A terminated container that its
// restart policy does not restart must stay terminated, since controllers have counted it.
func (w *checks) writePodStatus(obj, body tree.Tree, _ string, faults *schema.Faults) error {
	w.validateAnnotationsUpdate(body, obj, faults)
	was, status := obj.Object("status"), body.EnsureObject("status")
	defaultPodStatus(status)
	validatePodConditions(status, faults)
	if status.String("qosClass") == "" {
		status.CopyField(was, "qosClass")
	} else if class := was.String("qosClass"); class != "" && status.String("qosClass") != class {
		faults.Invalid("status.qosClass", status.String("qosClass"), "field is immutable")
	}
	if node := status.String("nominatedNodeName"); node != was.String("nominatedNodeName") {
		field.Format(status, "nominatedNodeName", "status", faults, rules.Subdomain)
		if node != "" && obj.Object("spec").String("nodeName") != "" {
			faults.Forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node")
		}
	}
	field.NonNegative(status, "status", faults, "observedGeneration")
	spec := obj.Object("spec")
	if spec.String("restartPolicy") != "Always" {
		validateTerminatedContainers(spec, status, was, "containers", faults)
		validateTerminatedContainers(spec, status, was, "initContainers", faults)
	}
	validateStatusIPs(status, was, faults)
	validateContainerUsers(spec, status, faults)
	obj["status"] = status
	return nil
}

func validatePodConditions(status tree.Tree, faults *schema.Faults) {
	for i, c := range status.Objects("conditions") {
		at := tree.IndexPath("status.conditions", i)
		if n, _ := c.Int("observedGeneration"); n < 0 {
			faults.Invalid(at+".observedGeneration", n, "must be a non-negative integer")
		}
		field.QualifiedName(c.String("type"), at+".Type", faults)
	}
}

// validateContainerUsers checks the users of containers in the status.
func validateContainerUsers(spec, status tree.Tree, faults *schema.Faults) {
	windows := spec.Object("os").String("name") == "windows"
	for _, list := range []string{"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"} {
		for i, c := range status.Objects(list) {
			user, at := c.Object("user", "linux"), tree.IndexPath("status."+list, i)+".user.linux"
			switch {
			case user == nil:
			case windows:
				faults.Forbidden(at, "cannot be set for a windows pod")
			default:
				validateContainerUser(user, at, faults)
			}
		}
	}
}

func validateContainerUser(user tree.Tree, at string, faults *schema.Faults) {
	check := func(v any, at string) {
		if n, ok := v.(int64); ok && (n < 0 || n > math.MaxInt32) {
			faults.Invalid(at, n, "must be between 0 and 2147483647, inclusive")
		}
	}
	check(user["uid"], at+".uid")
	check(user["gid"], at+".gid")
	for i, group := range user.List("supplementalGroups") {
		check(group, tree.IndexPath(at+".supplementalGroups", i))
	}
}

// containerStatusLists maps lists of containers in the spec to those in the status.
var containerStatusLists = map[string]string{"containers": "containerStatuses", "initContainers": "initContainerStatuses"}

// validateTerminatedContainers rejects a restart of terminated containers unless the restart policy
// allows it: Always, OnFailure for failed ones, and init containers with a policy of their own.
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

// defaultPodStatus keeps podIP equal to the first of podIPs. If they differ, podIP wins and becomes
// the only item: kubelets without dual-stack support write only podIP and send the list back
// unchanged.
func defaultPodStatus(status tree.Tree) {
	single, all := status.String("podIP"), status.Objects("podIPs")
	switch {
	case single != "" && (len(all) == 0 || all[0].String("ip") != single):
		status["podIPs"] = []any{tree.Tree{"ip": single}}
	case single == "" && len(all) > 0:
		status["podIP"] = all[0].String("ip")
	}
}
