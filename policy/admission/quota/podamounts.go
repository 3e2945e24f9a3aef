package quota

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podAmounts are the requests and the limits of a Pod: those of its containers, of the sidecars that run
// beside them, or of an init container with the sidecars before it, if that is more; or what the Pod says
// as a whole; and its overhead. While a Pod is being resized, the greater of the amounts counts.
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

// overrideAtPodLevel replaces sums of containers by what the Pod says as a whole.
func overrideAtPodLevel(sums *amounts, podLevel tree.Tree) {
	for name, value := range podLevel {
		if text, ok := value.(string); ok && isPodLevel(name) {
			sums.set(name, amount.Read(text))
		}
	}
}

// isPodLevel tells whether Pods may say something of a resource as a whole.
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

// usualNames is how many resources most Pods name, with some room for overhead.
const usualNames = 4

// sumContainers sums up one list, "requests" or "limits", of all containers.
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

// A resize is what a Pod's node says of containers that may be being resized.
type resize struct {
	status     tree.Tree
	list       string
	infeasible bool // what is wanted cannot be had
}

func newResize(pod tree.Tree, list string) resize {
	r := resize{status: pod.Object("status"), list: list}
	conditions := r.status.Objects("conditions")
	if i := slices.IndexFunc(conditions, func(c tree.Tree) bool { return c.String("type") == "PodResizePending" }); i >= 0 {
		r.infeasible = conditions[i].String("reason") == "Infeasible"
	}
	return r
}

// effective is the greatest of what a container wants, has and is promised.
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
