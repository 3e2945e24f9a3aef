package cluster

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Resources holds amounts of resources. CPU is in millicores, and other resources are in whole
// units. CPU and memory are fields, because a map per Pod would take most of the memory.
type Resources struct {
	CPU, Memory int64
	Others      map[string]int64 // nil for none; shared, never changed
}

// resourceReader parses quantities and collects errors. For an invalid quantity, it returns
// unreadable: 0 for nodes and the maximum for Pods, so that the scheduler does not bind the Pod.
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

// Plus returns the sum of r and o. It saturates instead of overflowing 64 bits.
func (r Resources) Plus(o Resources) Resources { return r.merge(o, plus) }

// Minus returns the difference of r and o.
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

// Lacks returns the name of a resource for which r has less than asked, or "".
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

// Differs reports whether any amount differs between r and o.
func (r Resources) Differs(o Resources) bool {
	return r.CPU != o.CPU || r.Memory != o.Memory || !maps.Equal(r.Others, o.Others)
}

func (r Resources) most(o Resources) Resources {
	return r.merge(o, func(a, b int64) int64 { return max(a, b) })
}

// requests returns a Pod's resource requests: the sum over containers and sidecars, or the peak
// during initialization if that is higher, plus overhead. Pod-level requests replace the sums.
func (r *resourceReader) requests(spec, status tree.Tree) Resources {
	resize := resize{status, tree.FindCondition(status, "PodResizePending").String("reason") == "Infeasible"}
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

type resize struct {
	status     tree.Tree
	infeasible bool // the node cannot grant the requests of the spec
}

func (r resize) container(list string, c tree.Tree) tree.Tree {
	for _, s := range r.status.Objects(list) {
		if s.String("name") == c.String("name") {
			return s
		}
	}
	return nil
}

// effective returns the resources to reserve during an in-place resize: the maximum of the
// requested, allocated and actual resources.
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
