package quota

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podAmounts returns the effective requests and limits of a Pod. Per resource, that is the larger
// of the containers with sidecars and the init containers; Pod-level resources override it, and the
// overhead is added. During a resize the larger amounts count.
func podAmounts(pod tree.Tree) (requests, limits amounts) {
	spec := pod.Object("spec")
	requests, limits = sumContainers(pod, "requests"), sumContainers(pod, "limits")
	overrideAtPodLevel(&requests, spec.Object("resources", "requests"))
	overrideAtPodLevel(&limits, spec.Object("resources", "limits"))
	overhead := amountsOf(spec.Object("overhead"))
	requests.add(overhead)
	for _, o := range overhead {
		if limit := limits.get(o.name); limit.Sign() != 0 {
			limits.set(o.name, limit.Add(o.amount))
		}
	}
	return requests, limits
}

func overrideAtPodLevel(sums *amounts, podLevel tree.Tree) {
	for name, value := range podLevel {
		if text, ok := value.(string); ok && isPodLevel(name) {
			sums.set(name, amount.Read(text))
		}
	}
}

func isPodLevel(name string) bool {
	return name == "cpu" || name == "memory" || strings.HasPrefix(name, hugePages)
}

func saysPodLevel(list tree.Tree) bool {
	for name := range list {
		if isPodLevel(name) {
			return true
		}
	}
	return false
}

// usualNames is the number of resources of most Pods, with room for overhead.
const usualNames = 4

// sumContainers returns the effective amounts of a list, "requests" or "limits", over all
// containers.
func sumContainers(pod tree.Tree, list string) amounts {
	spec := pod.Object("spec")
	resize := newResize(pod, list)
	var sidecars, initial amounts
	sum := make(amounts, 0, usualNames)
	for _, c := range spec.Objects("containers") {
		sum.add(resize.effective(c, "containerStatuses"))
	}
	for _, c := range spec.Objects("initContainers") {
		if c.String("restartPolicy") == "Always" {
			its := resize.effective(c, "initContainerStatuses")
			sum.add(its)
			sidecars.add(its)
			initial.raise(sidecars)
			continue
		}
		its := amountsOf(c.Object("resources", list))
		its.add(sidecars)
		initial.raise(its)
	}
	sum.raise(initial)
	return sum
}

// A resize holds the status of containers that may be in a resize.
type resize struct {
	status     tree.Tree
	list       string
	infeasible bool // the node cannot grant the desired amounts
}

func newResize(pod tree.Tree, list string) resize {
	r := resize{status: pod.Object("status"), list: list}
	conditions := r.status.Objects("conditions")
	if i := slices.IndexFunc(conditions, func(c tree.Tree) bool { return c.String("type") == "PodResizePending" }); i >= 0 {
		r.infeasible = conditions[i].String("reason") == "Infeasible"
	}
	return r
}

// effective returns the maximum of desired, actual and allocated amounts of a container.
func (r resize) effective(container tree.Tree, statuses string) amounts {
	wanted := container.Object("resources", r.list)
	all := r.status.Objects(statuses)
	i := slices.IndexFunc(all, func(s tree.Tree) bool { return s.String("name") == container.String("name") })
	if i < 0 || !all[i].Has("resources") {
		return amountsOf(wanted)
	}
	most := amountsOf(all[i].Object("resources", r.list))
	if r.list == "requests" {
		most.raise(amountsOf(all[i].Object("allocatedResources")))
	}
	if !r.infeasible {
		most.raise(amountsOf(wanted))
	}
	return most
}
