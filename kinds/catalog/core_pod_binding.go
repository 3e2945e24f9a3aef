package catalog

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// bindPod ties a Pod to the node that a Binding names, once. Labels and annotations of
// the Binding go over to the Pod.
func bindPod(obj, body schema.Tree, now string, faults *schema.Faults) error {
	target := rules.Nested(body, "target")
	if kind := rules.String(target, "kind"); kind != "" && kind != "Node" {
		faults.NotSupported("target.kind", kind, []string{"Node", "<empty>"})
	}
	requireFields(target, "target", faults, "name")
	if len(faults.List) > 0 {
		return nil
	}
	if why := bindingError(obj); why != "" {
		name := rules.String(rules.Nested(obj, "metadata"), "name")
		return meta.NewConflict(meta.GroupResource{Resource: "pods/binding"}, name, "pod "+name+" "+why)
	}
	rules.EnsureNested(obj, "spec")["nodeName"] = rules.String(target, "name")
	for _, name := range []string{"labels", "annotations"} {
		for key, value := range rules.Nested(body, "metadata", name) {
			rules.EnsureNested(obj, "metadata", name)[key] = value
		}
	}
	status := rules.EnsureNested(obj, "status")
	delete(status, "nominatedNodeName")
	setCondition(status, "PodScheduled", "True", now)
	return nil
}

// bindingError says why a Pod cannot be tied to a node now; "" if it can.
func bindingError(pod schema.Tree) string {
	spec := rules.Nested(pod, "spec")
	switch node := rules.String(spec, "nodeName"); {
	case rules.Has(rules.Nested(pod, "metadata"), "deletionTimestamp"):
		return "is being deleted, cannot be assigned to a host"
	case node != "":
		return fmt.Sprintf("is already assigned to node %q", node)
	case len(rules.Items(spec, "schedulingGates")) > 0:
		return "has non-empty .spec.schedulingGates"
	}
	return ""
}

// setCondition gives the condition of a type a value, from now on if it had another one.
func setCondition(status schema.Tree, name, value, now string) {
	next := schema.Tree{"type": name, "status": value, "lastTransitionTime": now}
	conditions := slices.Clone(rules.Items(status, "conditions"))
	for i, c := range rules.Trees(status, "conditions") {
		if rules.String(c, "type") != name {
			continue
		}
		if rules.String(c, "status") == value {
			rules.CopyField(next, c, "lastTransitionTime")
		}
		conditions[i] = next
		status["conditions"] = conditions
		return
	}
	status["conditions"] = append(conditions, next)
}
