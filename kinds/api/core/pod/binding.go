package pod

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// bindPod assigns a Pod to the Binding's node and copies the Binding's labels and annotations.
//
// An existing Pod can be assigned only by a Binding, and only once. If two schedulers bind it
// concurrently, the second request fails with a conflict.
func bindPod(obj, body tree.Tree, now string, faults *schema.Faults) error {
	if body.Name() != obj.Name() {
		return meta.NewBadRequest("name in URL does not match name in Binding object")
	}
	target := body.Object("target")
	if kind := target.String("kind"); kind != "" && kind != "Node" {
		faults.NotSupported("target.kind", kind, []string{"Node", "<empty>"})
	}
	field.Require(target, "target", faults, "name")
	field.Format(target, "name", "target", faults, rules.Subdomain)
	if len(faults.List) > 0 {
		return nil
	}
	if why := bindingError(obj); why != "" {
		name := obj.Name()
		return meta.NewConflict(meta.GroupResource{Resource: "pods/binding"}, name, "pod "+name+" "+why)
	}
	obj.EnsureObject("spec")["nodeName"] = target.String("name")
	for _, name := range []string{"labels", "annotations"} {
		for key, value := range body.Object("metadata", name) {
			obj.EnsureObject("metadata", name)[key] = value
		}
	}
	status := obj.EnsureObject("status")
	delete(status, "nominatedNodeName")
	setCondition(status, "PodScheduled", "True", now)
	return nil
}

// bindingError returns the reason why a Pod cannot be bound, such as scheduling gates, or "".
func bindingError(pod tree.Tree) string {
	spec := pod.Object("spec")
	switch node := spec.String("nodeName"); {
	case pod.Object("metadata").Has("deletionTimestamp"):
		return "is being deleted, cannot be assigned to a host"
	case node != "":
		return fmt.Sprintf("is already assigned to node %q", node)
	case len(spec.List("schedulingGates")) > 0:
		return "has non-empty .spec.schedulingGates"
	}
	return ""
}

// setCondition sets the status of a condition and drops its reason and message. If the status
// changes, lastTransitionTime becomes now.
func setCondition(status tree.Tree, name, value, now string) {
	next := tree.Tree{"type": name, "status": value, "lastTransitionTime": now}
	conditions := slices.Clone(status.List("conditions"))
	for i, c := range status.Objects("conditions") {
		if c.String("type") != name {
			continue
		}
		if c.String("status") == value {
			next.CopyField(c, "lastTransitionTime")
		}
		conditions[i] = next
		status["conditions"] = conditions
		return
	}
	status["conditions"] = append(conditions, next)
}
