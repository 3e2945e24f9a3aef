package pod

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// resizeView returns the resize subresource, which separates the permission to resize Pods from the
// permission to update them. It changes only the cpu and memory of containers and of the whole Pod.
// mirror is the annotation that marks the mirror Pod of a static Pod.
func resizeView(mirror string) schema.View {
	return schema.View{Write: func(obj, body tree.Tree, _ string, faults *schema.Faults) error {
		spec, was := body.Object("spec"), obj.Object("spec")
		switch {
		case obj.Annotations().Has(mirror):
			faults.Forbidden("", "static pods cannot be resized")
		case was.Object("os").String("name") == "windows":
			faults.Forbidden("", "windows pods cannot be resized")
		case sameContainers(spec, was, faults):
			defaultRequests(spec)
			resizePod(obj, spec, faults)
		}
		return nil
	}}
}

// sameContainers reports whether spec and was have the same containers in the same order. Otherwise
// it adds an error, because resizePod matches containers by position.
func sameContainers(spec, was tree.Tree, faults *schema.Faults) bool {
	before := len(faults.List)
	for _, list := range []string{"containers", "initContainers"} {
		now, then := spec.Objects(list), was.Objects(list)
		if len(now) != len(then) {
			faults.Forbidden("spec."+list, list+" may not be added or removed on resize")
			continue
		}
		for i := range now {
			if now[i].String("name") != then[i].String("name") {
				faults.Forbidden(tree.IndexPath("spec."+list, i)+".name", list+" may not be renamed or reordered on resize")
			}
		}
	}
	return len(faults.List) == before
}

// resizePod copies the resources in spec to the Pod. The caller must have checked sameContainers.
// The QoS class must not change, because a running Pod stays in the cgroup of its class.
func resizePod(pod, spec tree.Tree, faults *schema.Faults) {
	was := pod.Object("spec")
	class := qosClass(was)
	if !resizable(pod.Object("status")) {
		faults.Forbidden("spec", "Pod running on node without support for resize")
	}
	for _, list := range []string{"containers", "initContainers"} {
		then := was.Objects(list)
		for i, c := range spec.Objects(list) {
			path := tree.IndexPath("spec."+list, i)
			switch same := validateResize(c, then[i], path+".resources", "", faults); {
			case same:
			case list == "containers":
				faults.Forbidden("spec", "only cpu and memory resources are mutable")
			default:
				faults.Forbidden(path, "only cpu and memory resources for init or sidecar containers are mutable")
			}
			then[i].CopyField(c, "resources")
		}
	}
	before := tree.Tree{"resources": was["resources"]}
	if spec.Has("resources") {
		was.CopyField(spec, "resources")
	}
	if whole := was.Object("resources"); whole != nil {
		was["resources"] = tree.Clone(whole)
		defaultPodLevel(was)
	}
	if !validateResize(was, before, "spec.resources", "pod-level ", faults) {
		faults.Forbidden("spec", "only cpu and memory resources are mutable at pod-level")
	}
	if qosClass(was) != class {
		faults.Invalid("spec", class, "Pod QOS Class may not change as a result of resizing")
	}
}

// resizable reports whether a Pod can be resized. A node that supports resizing reports the
// resources of running containers in the status.
func resizable(status tree.Tree) bool {
	for _, c := range status.Objects("containerStatuses") {
		if c.Object("state", "running") != nil {
			return c.Has("resources")
		}
	}
	return true
}

// validateResize allows changes of cpu and memory, but not their removal. It compares quantities by
// value, so "1000m" equals "1". It reports whether other resources, claims and the resize policy
// are unchanged. level is the prefix of error messages.
func validateResize(c, was tree.Tree, path, level string, faults *schema.Faults) bool {
	now, then := c.Object("resources"), was.Object("resources")
	same := tree.SemanticEqual(now["claims"], then["claims"]) &&
		(!c.Has("resizePolicy") || tree.SemanticEqual(c["resizePolicy"], was["resizePolicy"]))
	for _, list := range []string{"limits", "requests"} {
		amounts, before := now.Object(list), then.Object(list)
		lost := func(name string) bool { return !amounts.Has(name) }
		if slices.ContainsFunc(before.SortedKeys(), lost) {
			faults.Forbidden(path+"."+list, level+"resource "+list+" cannot be removed")
		}
		for name := range amounts {
			fixed := name != "cpu" && name != "memory"
			same = same && !(fixed && (!before.Has(name) || quantity.Compare(amounts.String(name), before.String(name)) != 0))
		}
	}
	return same
}
