package quota

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/tree"
)

func podInScope(r requirement, pod tree.Tree) bool {
	switch r.scope {
	case "Terminating":
		return isTerminating(pod)
	case "NotTerminating":
		return !isTerminating(pod)
	case "BestEffort":
		return isBestEffort(pod)
	case "NotBestEffort":
		return !isBestEffort(pod)
	case "PriorityClass":
		return r.matchesAny(nonEmpty(pod.Object("spec").String("priorityClassName")))
	case "CrossNamespacePodAffinity":
		affinity := pod.Object("spec", "affinity")
		return hasForeignTerm(affinity.Object("podAffinity")) || hasForeignTerm(affinity.Object("podAntiAffinity"))
	}
	return false
}

func isTerminating(pod tree.Tree) bool {
	seconds, ok := pod.Object("spec").Int("activeDeadlineSeconds")
	return ok && seconds >= 0
}

func isBestEffort(pod tree.Tree) bool {
	if class := pod.Object("status").String("qosClass"); class != "" {
		return class == "BestEffort"
	}
	spec := pod.Object("spec")
	if spec.Has("resources") {
		return !computes(spec.Object("resources"))
	}
	uses := func(container tree.Tree) bool { return computes(container.Object("resources")) }
	return !slices.ContainsFunc(spec.Objects("containers"), uses) && !slices.ContainsFunc(spec.Objects("initContainers"), uses)
}

func computes(resources tree.Tree) bool {
	for _, list := range []tree.Tree{resources.Object("requests"), resources.Object("limits")} {
		for _, name := range []string{"cpu", "memory"} {
			if amount.Read(list.String(name)).Sign() > 0 {
				return true
			}
		}
	}
	return false
}

func hasForeignTerm(affinity tree.Tree) bool {
	foreign := func(term tree.Tree) bool { return len(term.List("namespaces")) > 0 || term.Has("namespaceSelector") }
	return slices.ContainsFunc(affinity.Objects("requiredDuringSchedulingIgnoredDuringExecution"), foreign) ||
		slices.ContainsFunc(affinity.Objects("preferredDuringSchedulingIgnoredDuringExecution"), func(weighted tree.Tree) bool {
			return foreign(weighted.Object("podAffinityTerm"))
		})
}

// mustBeSaid lists the compute resources that every container must set if a quota limits them, as
// in Kubernetes.
var mustBeSaid = []string{"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}

// podConstraint returns the required resources that containers do not set. Pod-level resources
// satisfy the requirement.
func podConstraint(limited []string, pod tree.Tree) string {
	spec := pod.Object("spec")
	if saysPodLevel(spec.Object("resources", "requests")) || saysPodLevel(spec.Object("resources", "limits")) {
		return ""
	}
	var missing []string
	for _, name := range slices.Sorted(slices.Values(limited)) {
		if !slices.Contains(mustBeSaid, name) {
			continue
		}
		list, resource := "requests", strings.TrimPrefix(name, requestsPrefix)
		if limit, ok := strings.CutPrefix(name, limitsPrefix); ok {
			list, resource = "limits", limit
		}
		var silent []string
		for _, c := range append(spec.Objects("containers"), spec.Objects("initContainers")...) {
			if !c.Object("resources", list).Has(resource) {
				silent = append(silent, c.String("name"))
			}
		}
		if len(silent) > 0 {
			slices.Sort(silent)
			missing = append(missing, name+" for: "+strings.Join(slices.Compact(silent), ","))
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "must specify " + strings.Join(missing, "; ")
}
