package quota

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podAmounts returns a Pod's effective requests and limits, including its overhead. Pod-level
// resources override the container totals (amount.OfContainers). During a resize, the larger
// amounts count.
func podAmounts(pod tree.Tree) (requests, limits amount.List) {
	spec := pod.Object("spec")
	requests, limits = sumContainers(pod, "requests"), sumContainers(pod, "limits")
	overrideAtPodLevel(&requests, spec.Object("resources", "requests"))
	overrideAtPodLevel(&limits, spec.Object("resources", "limits"))
	overhead := amount.ListOf(spec.Object("overhead"))
	requests.Add(overhead)
	for _, o := range overhead {
		if limit := limits.Get(o.Name); limit.Sign() != 0 {
			limits.Set(o.Name, limit.Add(o.Amount))
		}
	}
	return requests, limits
}

func overrideAtPodLevel(sums *amount.List, podLevel tree.Tree) {
	for name, value := range podLevel {
		if text, ok := value.(string); ok && isPodLevel(name) {
			sums.Set(name, amount.Read(text))
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

// sumContainers returns the effective amounts of all containers. list is "requests" or "limits".
func sumContainers(pod tree.Tree, list string) amount.List {
	resize := newResize(pod, list)
	return amount.OfContainers(pod.Object("spec"), func(c tree.Tree, containers string) amount.List {
		if containers == "containers" {
			return resize.effective(c, "containerStatuses")
		}
		if c.String("restartPolicy") == "Always" {
			return resize.effective(c, "initContainerStatuses")
		}
		return amount.ListOf(c.Object("resources", list))
	})
}

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

// effective returns the maximum of a container's desired, actual and allocated amounts. It ignores
// the desired amounts if the resize is infeasible.
func (r resize) effective(container tree.Tree, statuses string) amount.List {
	wanted := container.Object("resources", r.list)
	all := r.status.Objects(statuses)
	i := slices.IndexFunc(all, func(s tree.Tree) bool { return s.String("name") == container.String("name") })
	if i < 0 || !all[i].Has("resources") {
		return amount.ListOf(wanted)
	}
	most := amount.ListOf(all[i].Object("resources", r.list))
	if r.list == "requests" {
		most.Raise(amount.ListOf(all[i].Object("allocatedResources")))
	}
	if !r.infeasible {
		most.Raise(amount.ListOf(wanted))
	}
	return most
}
