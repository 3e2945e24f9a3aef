package cluster

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Resources are the resources of a node or a Pod: CPU in thousandths, all others in whole units. CPU and memory have
// fields because a map for each of many Pods would take most of their memory.
type Resources struct {
	CPU, Memory int64
	Others      map[string]int64 // nil for none; shared, never changed
}

// A resourceReader parses objects of quantities and collects the errors. An amount that cannot be parsed counts as
// unreadable: 0 for what a node offers and the maximum for what a Pod requests, so that no Pod is bound by mistake.
type resourceReader struct {
	unreadable int64
	errs       []error
}

func (r *resourceReader) read(t tree.Tree) (all Resources) {
	for name := range t {
		parse := quantity.Value
		if name == "cpu" {
			parse = quantity.Milli
		}
		n, err := parse(t.String(name))
		if err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s: %q: %w", name, t.String(name), err))
			n = r.unreadable
		}
		switch name {
		case "cpu":
			all.CPU = n
		case "memory":
			all.Memory = n
		default:
			if all.Others == nil {
				all.Others = map[string]int64{}
			}
			all.Others[name] = n
		}
	}
	return all
}

// Plus returns the sum. Sums that exceed 64 bits become the maximum.
func (r Resources) Plus(o Resources) Resources { return r.merge(o, plus) }

// Minus returns the difference.
func (r Resources) Minus(o Resources) Resources {
	return r.merge(o, func(a, b int64) int64 { return plus(a, -b) })
}

func plus(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

func (r Resources) merge(o Resources, f func(a, b int64) int64) Resources {
	r.CPU, r.Memory = f(r.CPU, o.CPU), f(r.Memory, o.Memory)
	if len(o.Others) > 0 {
		others := make(map[string]int64, len(r.Others)+len(o.Others))
		maps.Copy(others, r.Others)
		for name, n := range o.Others {
			others[name] = f(others[name], n)
		}
		r.Others = others
	}
	return r
}

// Lacks is a resource of which there is less than is asked for; "" if there is enough of all.
func (r Resources) Lacks(asked Resources) string {
	switch {
	case asked.CPU > max(r.CPU, 0):
		return "cpu"
	case asked.Memory > max(r.Memory, 0):
		return "memory"
	}
	for _, name := range slices.Sorted(maps.Keys(asked.Others)) {
		if asked.Others[name] > max(r.Others[name], 0) {
			return name
		}
	}
	return ""
}

// Differs tells whether two are not the same.
func (r Resources) Differs(o Resources) bool {
	return r.CPU != o.CPU || r.Memory != o.Memory || !maps.Equal(r.Others, o.Others)
}

func (r Resources) most(o Resources) Resources {
	return r.merge(o, func(a, b int64) int64 { return max(a, b) })
}

// requests returns what a Pod requests of its node: the sum of its containers and sidecars, or the peak while it
// initializes, and its overhead. Requests of the Pod as a whole replace those sums.
func (r *resourceReader) requests(spec, status tree.Tree) Resources {
	resize := newResize(status)
	var containers, sidecars, initializing Resources
	for _, c := range spec.Objects("containers") {
		containers = containers.Plus(r.effective(resize, c.Object("resources", "requests"), resize.container("containerStatuses", c)))
	}
	for _, c := range spec.Objects("initContainers") {
		requests := c.Object("resources", "requests")
		if c.String("restartPolicy") == "Always" {
			sidecars = sidecars.Plus(r.effective(resize, requests, resize.container("initContainerStatuses", c)))
			initializing = initializing.most(sidecars)
		} else {
			initializing = initializing.most(sidecars.Plus(r.read(requests)))
		}
	}
	all := containers.Plus(sidecars).most(initializing)
	if whole := spec.Object("resources", "requests"); len(whole) > 0 {
		effective := r.effective(resize, whole, status)
		if whole.Has("cpu") {
			all.CPU = effective.CPU
		}
		if whole.Has("memory") {
			all.Memory = effective.Memory
		}
		all = all.withHugePages(whole, effective)
	}
	return all.Plus(r.read(spec.Object("overhead")))
}

// withHugePages replaces the huge pages that a Pod requests as a whole.
func (r Resources) withHugePages(whole tree.Tree, effective Resources) Resources {
	var others map[string]int64
	for name := range whole {
		if !strings.HasPrefix(name, "hugepages-") {
			continue
		}
		if others == nil {
			if others = maps.Clone(r.Others); others == nil {
				others = map[string]int64{}
			}
		}
		others[name] = effective.Others[name]
	}
	if others != nil {
		r.Others = others
	}
	return r
}

// A resize is what the status of a Pod says about resources that are being changed in place.
type resize struct {
	status     tree.Tree
	infeasible bool // the node will never grant what the spec requests
}

func newResize(status tree.Tree) resize {
	return resize{status, condition.Find(status, "PodResizePending").String("reason") == "Infeasible"}
}

// container returns the status of a container; nil if there is none.
func (r resize) container(list string, c tree.Tree) tree.Tree {
	for _, s := range r.status.Objects(list) {
		if s.String("name") == c.String("name") {
			return s
		}
	}
	return nil
}

// effective returns the most of what is requested, allocated and in use, where status tells the last two. A request
// that is infeasible does not count.
func (r *resourceReader) effective(resize resize, requested, status tree.Tree) Resources {
	if !status.Has("resources") {
		return r.read(requested)
	}
	held := r.read(status.Object("resources", "requests")).most(r.read(status.Object("allocatedResources")))
	if resize.infeasible {
		return held
	}
	return held.most(r.read(requested))
}
