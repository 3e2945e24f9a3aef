package catalog

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

const onlyCPUAndMemoryMsg = "only cpu and memory resources are mutable"

// resizeView changes how much cpu and memory the containers of a Pod ask for and may use,
// and nothing else. mirror is the annotation of a Pod that is only the image of one that a
// node runs by itself.
func resizeView(mirror string) schema.View {
	return schema.View{Write: func(obj, body schema.Tree, _ string, faults *schema.Faults) error {
		spec, was := rules.Nested(body, "spec"), rules.Nested(obj, "spec")
		switch {
		case rules.Has(rules.Nested(obj, "metadata", "annotations"), mirror):
			faults.Forbidden("", "static pods cannot be resized")
		case rules.String(rules.Nested(was, "os"), "name") == "windows":
			faults.Forbidden("", "windows pods cannot be resized")
		case sameContainers(spec, was, faults):
			defaultRequests(spec)
			resizePod(obj, spec, faults)
		}
		return nil
	}}
}

// sameContainers reports containers that are not those which the Pod has, in their order.
func sameContainers(spec, was schema.Tree, faults *schema.Faults) bool {
	before := len(faults.List)
	for _, list := range []string{"containers", "initContainers"} {
		now, then := rules.Trees(spec, list), rules.Trees(was, list)
		if len(now) != len(then) {
			faults.Forbidden("spec."+list, list+" may not be added or removed on resize")
			continue
		}
		for i := range now {
			if rules.String(now[i], "name") != rules.String(then[i], "name") {
				faults.Forbidden(rules.IndexPath("spec."+list, i)+".name", list+" may not be renamed or reordered on resize")
			}
		}
	}
	return len(faults.List) == before
}

// resizePod takes over the resources of the containers of spec, which are those of pod.
func resizePod(pod, spec schema.Tree, faults *schema.Faults) {
	was := rules.Nested(pod, "spec")
	class := qosClass(was)
	if !resizable(rules.Nested(pod, "status")) {
		faults.Forbidden("spec", "Pod running on node without support for resize")
	}
	for _, list := range []string{"containers", "initContainers"} {
		then := rules.Trees(was, list)
		for i, c := range rules.Trees(spec, list) {
			sidecar := list == "containers" || rules.String(then[i], "restartPolicy") == "Always"
			if !sidecar && !rules.SemanticEqual(c["resources"], then[i]["resources"]) {
				faults.Forbidden("spec", "resources for non-sidecar init containers are immutable")
			}
			validateResize(c, then[i], rules.IndexPath("spec."+list, i)+".resources", faults)
			rules.CopyField(then[i], c, "resources")
		}
	}
	if qosClass(was) != class {
		faults.Invalid("spec", class, "Pod QOS Class may not change as a result of resizing")
	}
}

// resizable tells whether the node of a running Pod says what its containers have; only
// such a node can change that.
func resizable(status schema.Tree) bool {
	for _, c := range rules.Trees(status, "containerStatuses") {
		if rules.Nested(c, "state", "running") != nil {
			return rules.Has(c, "resources")
		}
	}
	return true
}

// validateResize lets the amounts of cpu and memory change. None may go.
func validateResize(c, was schema.Tree, path string, faults *schema.Faults) {
	now, then := rules.Nested(c, "resources"), rules.Nested(was, "resources")
	same := rules.SemanticEqual(now["claims"], then["claims"]) &&
		(!rules.Has(c, "resizePolicy") || rules.SemanticEqual(c["resizePolicy"], was["resizePolicy"]))
	for _, list := range []string{"limits", "requests"} {
		amounts, before := rules.Nested(now, list), rules.Nested(then, list)
		lost := func(name string) bool { return !rules.Has(amounts, name) }
		if slices.ContainsFunc(rules.Keys(before), lost) {
			faults.Forbidden(path+"."+list, "resource "+list+" cannot be removed")
		}
		for name := range amounts {
			fixed := name != "cpu" && name != "memory"
			same = same && !(fixed && (!rules.Has(before, name) || quantity.Compare(rules.String(amounts, name), rules.String(before, name)) != 0))
		}
	}
	if !same {
		faults.Forbidden("spec", onlyCPUAndMemoryMsg)
	}
}
