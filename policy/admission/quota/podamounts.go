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

// sumContainers returns the effective amounts of all containers: the largest sum of their desired,
// actual or allocated amounts. list is "requests" or "limits". The desired amounts do not count if
// the node cannot grant them.
func sumContainers(pod tree.Tree, list string) amount.List {
	spec, status := pod.Object("spec"), pod.Object("status")
	statuses := slices.Concat(status.Objects("containerStatuses"), status.Objects("initContainerStatuses"))
	infeasible := isResizeInfeasible(status)
	// sum reads each container's amounts from the first path that exists in its status.
	sum := func(paths ...[]string) amount.List {
		return amount.OfContainers(spec, func(c tree.Tree, _ string) amount.List {
			own := func(s tree.Tree) bool { return s.String("name") == c.String("name") }
			if i := slices.IndexFunc(statuses, own); i >= 0 {
				for _, path := range paths {
					if amounts := statuses[i].Object(path...); amounts != nil {
						return amount.ListOf(amounts)
					}
				}
			}
			if infeasible {
				return nil
			}
			return amount.ListOf(c.Object("resources", list))
		})
	}
	if len(statuses) == 0 {
		return sum()
	}
	actual, allocated := []string{"resources", list}, []string{"allocatedResources"}
	var most amount.List
	if list == "requests" {
		most = sum(actual, allocated)
		most.Raise(sum(allocated))
	} else {
		most = sum(actual)
	}
	if !infeasible {
		most.Raise(sum())
	}
	return most
}

func isResizeInfeasible(status tree.Tree) bool {
	conditions := status.Objects("conditions")
	i := slices.IndexFunc(conditions, func(c tree.Tree) bool { return c.String("type") == "PodResizePending" })
	return i >= 0 && conditions[i].String("reason") == "Infeasible"
}
