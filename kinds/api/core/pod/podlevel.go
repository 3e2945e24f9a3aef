package pod

import (
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/api/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The Pod-level resources in spec.resources bound those of the containers.

// pages is the prefix of huge page resources.
const pages = "hugepages-"

type amounts map[string]amount.Amount

func amountsOf(list tree.Tree) amounts {
	all := make(amounts, len(list))
	for name, value := range list {
		text, _ := value.(string)
		all[name] = amount.Read(text)
	}
	return all
}

func (a amounts) add(others amounts) {
	for name, n := range others {
		a[name] = a[name].Add(n)
	}
}

func (a amounts) raise(others amounts) {
	for name, n := range others {
		a[name] = a[name].Max(n)
	}
}

// ofContainers returns the total requests or limits of all containers: those that run concurrently
// or, if that is more, of an init container with the sidecars before it.
func ofContainers(spec tree.Tree, list string) amounts {
	sum, sidecars, initial := amounts{}, amounts{}, amounts{}
	for _, c := range spec.Objects("containers") {
		sum.add(amountsOf(c.Object("resources", list)))
	}
	for _, c := range spec.Objects("initContainers") {
		its := amountsOf(c.Object("resources", list))
		if c.String("restartPolicy") == "Always" {
			sum.add(its)
			sidecars.add(its)
			initial.raise(sidecars)
			continue
		}
		its.add(sidecars)
		initial.raise(its)
	}
	sum.raise(initial)
	return sum
}

// defaultPodLevel completes existing Pod-level resources. Huge pages, which cannot be
// overcommitted, are limited to those of the containers; requests follow the containers or else the
// limits.
func defaultPodLevel(spec tree.Tree) {
	resources := spec.Object("resources")
	requests, limits := resources.Object("requests"), resources.Object("limits")
	if len(requests)+len(limits) == 0 {
		return
	}
	for name, n := range ofContainers(spec, "limits") {
		if strings.HasPrefix(name, pages) && !requests.Has(name) && !limits.Has(name) {
			limits = resources.EnsureObject("limits")
			limits[name] = n.String()
		}
	}
	if len(limits) == 0 {
		return
	}
	for name, n := range ofContainers(spec, "requests") {
		if (name == "cpu" || name == "memory") && !requests.Has(name) {
			requests = resources.EnsureObject("requests")
			requests[name] = n.String()
		}
	}
	for name, limit := range limits {
		if resourcelist.IsPodLevel(name) && !requests.Has(name) {
			requests = resources.EnsureObject("requests")
			requests[name] = limit
		}
	}
}

// validatePodLevel checks that the containers of a Pod stay within its Pod-level resources.
func validatePodLevel(spec tree.Tree, path string, faults *schema.Faults) {
	resources := spec.Object("resources")
	if resources == nil {
		return
	}
	if resources.Has("claims") {
		faults.Forbidden(path+".claims", "claims may not be set for Resources at pod-level")
	}
	requests, limits := resources.Object("requests"), resources.Object("limits")
	asked := ofContainers(spec, "requests")
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if whole := requests.String(name); whole != "" && asked[name].Cmp(amount.Read(whole)) > 0 {
			faults.Invalid(tree.KeyPath(path+".requests", name), whole, "must be greater than or equal to aggregate container requests of "+asked[name].String())
		}
	}
	used := ofContainers(spec, "limits")
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if whole := limits.String(name); strings.HasPrefix(name, pages) && whole != "" && used[name].Cmp(amount.Read(whole)) > 0 {
			faults.Invalid(tree.KeyPath(path+".limits", name), whole, "must be greater than or equal to aggregate container limits of "+used[name].String())
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
