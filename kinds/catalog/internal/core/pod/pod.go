package pod

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/internal/quantity"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func podRules(n *meta.Naming) schema.Rules {
	taints := []string{n.Translate("node.platform.io/not-ready"), n.Translate("node.platform.io/unreachable")}
	return schema.Rules{
		Default: func(obj tree.Tree) {
			spec := obj.EnsureObject("spec")
			defaultPodSpec(spec)
			field.SetIfEmpty(spec, "enableServiceLinks", true)
			defaultHostPorts(spec)
			defaultRequests(spec)
			if status := obj.Object("status"); status != nil {
				defaultPodStatus(status)
			}
		},
		// Values set in Prepare have no field manager, like those that admission sets.
		Prepare: func(obj, old tree.Tree) {
			spec := obj.EnsureObject("spec")
			defaultPriority(spec)
			defaultTolerations(spec, taints)
			preparePod(obj, old)
		},
		ValidateSpec:   func(spec tree.Tree, faults *schema.Faults) { validatePodSpec(spec, "spec", faults) },
		ValidateUpdate: validatePodUpdate,
		ValidateServed: func(obj, old tree.Tree, faults *schema.Faults) {
			if old == nil {
				validatePodCreate(obj.Object("spec"), faults)
				validateEphemeralNames(obj, faults)
			}
		},
	}
}

// validatePodCreate refuses what can only be added to a Pod that exists.
func validatePodCreate(spec tree.Tree, faults *schema.Faults) {
	if len(spec.List("ephemeralContainers")) > 0 {
		faults.Forbidden("spec.ephemeralContainers", "cannot be set on create")
	}
	if spec.String("nodeName") != "" && len(spec.List("schedulingGates")) > 0 {
		faults.Forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
	}
}

// preparePod sets the status of a new Pod; later writes of the main resource keep the status.
func preparePod(obj, old tree.Tree) {
	if old != nil {
		obj.CopyField(old, "status")
		return
	}
	obj["status"] = tree.Tree{"phase": "Pending", "qosClass": qosClass(obj.Object("spec"))}
}

// defaultHostPorts sets hostPort to containerPort for Pods in the network of their node.
func defaultHostPorts(spec tree.Tree) {
	if !spec.Bool("hostNetwork") {
		return
	}
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, c := range spec.Objects(list) {
			for _, p := range c.Objects("ports") {
				port, ok := p.Int("containerPort")
				if host, _ := p.Int("hostPort"); ok && host == 0 {
					p["hostPort"] = port
				}
			}
		}
	}
}

// defaultRequests sets requests to the limits where a container has limits only.
func defaultRequests(spec tree.Tree) {
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.Objects(list) {
			for key, limit := range c.Object("resources", "limits") {
				if requests := c.EnsureObject("resources", "requests"); requests[key] == nil {
					requests[key] = limit
				}
			}
		}
	}
}

func defaultPriority(spec tree.Tree) {
	field.SetIfEmpty(spec, "preemptionPolicy", "PreemptLowerPriority")
	if spec.String("priorityClassName") == "" {
		field.SetIfEmpty(spec, "priority", int64(0))
	}
}

// tolerationSeconds is how long a Pod stays on a failing node by default.
const tolerationSeconds = 300

// defaultTolerations lets a Pod stay through short failures of its node. Taints that the Pod
// tolerates already, by key or with an empty key, are left alone.
func defaultTolerations(spec tree.Tree, taints []string) {
	for _, taint := range taints {
		covered := slices.ContainsFunc(spec.Objects("tolerations"), func(t tree.Tree) bool {
			key, effect := t.String("key"), t.String("effect")
			return (key == taint || key == "") && (effect == "NoExecute" || effect == "")
		})
		if covered {
			continue
		}
		spec["tolerations"] = append(slices.Clone(spec.List("tolerations")), tree.Tree{
			"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(tolerationSeconds),
		})
	}
}

// qosClass is the quality-of-service class of a Pod: Guaranteed if the requests of every container
// equal its limits for cpu and memory, BestEffort if no container has any, else Burstable.
func qosClass(spec tree.Tree) string {
	asked, guaranteed := false, true
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.Objects(list) {
			requests, limits := c.Object("resources", "requests"), c.Object("resources", "limits")
			for _, key := range []string{"cpu", "memory"} {
				request, limit := requests.String(key), limits.String(key)
				asked = asked || resourcelist.IsPositive(request) || resourcelist.IsPositive(limit)
				if !resourcelist.IsPositive(limit) || quantity.Compare(request, limit) != 0 {
					guaranteed = false
				}
			}
		}
	}
	switch {
	case !asked:
		return "BestEffort"
	case guaranteed:
		return "Guaranteed"
	}
	return "Burstable"
}
