package pod

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/api/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Pod-level resources (spec.resources) limit the resources of all containers together.

const pages = "hugepages-"

func ofContainers(spec tree.Tree, list string) amount.List {
	return amount.OfContainers(spec, amount.Declared(list))
}

func hasAmounts(resources tree.Tree) bool {
	return len(resources.Object("requests"))+len(resources.Object("limits")) > 0
}

// defaultPodLevel completes Pod-level resources if any are set:
//
//   - Huge page limits default to the containers' limits, because huge pages cannot be
//     overcommitted.
//   - Requests default to the containers' requests, or to the limits if no container has requests.
//   - Other limits default to the containers' limits, raised to the requests if necessary. They
//     remain unset if a container has no limit.
func defaultPodLevel(spec tree.Tree) {
	resources := spec.Object("resources")
	if !hasAmounts(resources) {
		return
	}
	requests, limits := resources.EnsureObject("requests"), resources.EnsureObject("limits")
	sum := ofContainers(spec, "limits")
	for _, n := range sum {
		if strings.HasPrefix(n.Name, pages) && !requests.Has(n.Name) && !limits.Has(n.Name) {
			limits[n.Name] = n.Amount.String()
		}
	}
	for _, n := range ofContainers(spec, "requests") {
		if (n.Name == "cpu" || n.Name == "memory") && !requests.Has(n.Name) {
			requests[n.Name] = n.Amount.String()
		}
	}
	for name, limit := range limits {
		if resourcelist.IsPodLevel(name) && !requests.Has(name) {
			requests[name] = limit
		}
	}
	for name := range requests {
		unlimited := func(c tree.Tree) bool { return !c.Object("resources", "limits").Has(name) }
		if resourcelist.IsPodLevel(name) && !limits.Has(name) && !slices.ContainsFunc(append(spec.Objects("containers"), spec.Objects("initContainers")...), unlimited) {
			limits[name] = sum.Get(name).Max(amount.Read(requests.String(name))).String()
		}
	}
	for _, list := range []string{"requests", "limits"} {
		if len(resources.Object(list)) == 0 {
			delete(resources, list)
		}
	}
}

func validatePodLevel(spec tree.Tree, path string, faults *schema.Faults) {
	resources := spec.Object("resources")
	if resources == nil {
		return
	}
	if resources.Has("claims") {
		faults.Forbidden(path+".claims", "claims may not be set for Resources at pod-level")
	}
	requests, limits := resources.Object("requests"), resources.Object("limits")
	for _, n := range ofContainers(spec, "requests").Sorted() {
		if whole := requests.String(n.Name); whole != "" && n.Amount.Cmp(amount.Read(whole)) > 0 {
			faults.Invalid(tree.KeyPath(path+".requests", n.Name), whole, "must be greater than or equal to aggregate container requests of "+n.Amount.String())
		}
	}
	for _, n := range ofContainers(spec, "limits").Sorted() {
		if whole := limits.String(n.Name); strings.HasPrefix(n.Name, pages) && whole != "" && n.Amount.Cmp(amount.Read(whole)) > 0 {
			faults.Invalid(tree.KeyPath(path+".limits", n.Name), whole, "must be greater than or equal to aggregate container limits of "+n.Amount.String())
		}
	}
	for i, c := range spec.Objects("containers") {
		its := c.Object("resources", "limits")
		for _, name := range its.SortedKeys() {
			whole, limit := limits.String(name), its.String(name)
			if whole != "" && quantity.Compare(limit, whole) > 0 {
				faults.Invalid(tree.KeyPath(tree.IndexPath(path+".containers", i), name)+".limits", limit, "must be less than or equal to pod limits of "+whole)
			}
		}
	}
}
