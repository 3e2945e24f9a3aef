package catalog

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func podRules(n *meta.Naming) schema.Rules {
	taints := []string{n.Translate("node.platform.io/not-ready"), n.Translate("node.platform.io/unreachable")}
	return schema.Rules{
		Default: func(obj schema.Tree) {
			spec := rules.EnsureNested(obj, "spec")
			defaultPodSpec(spec)
			setIfEmpty(spec, "enableServiceLinks", true)
			defaultHostPorts(spec)
			defaultRequests(spec)
			if status := rules.Nested(obj, "status"); status != nil {
				defaultPodStatus(status)
			}
		},
		// What is set here belongs to no manager, as what admission sets.
		Prepare: func(obj, old schema.Tree) {
			spec := rules.EnsureNested(obj, "spec")
			defaultPriority(spec)
			defaultTolerations(spec, taints)
			preparePod(obj, old)
		},
		ValidateSpec:   func(spec schema.Tree, faults *schema.Faults) { validatePodSpec(spec, "spec", faults) },
		ValidateUpdate: validatePodUpdate,
		ValidateServed: func(obj, old schema.Tree, faults *schema.Faults) {
			if old == nil {
				validatePodCreate(rules.Nested(obj, "spec"), faults)
				validateEphemeralNames(obj, faults)
			}
		},
	}
}

// validatePodCreate reports what a Pod may only get later.
func validatePodCreate(spec schema.Tree, faults *schema.Faults) {
	if len(rules.Items(spec, "ephemeralContainers")) > 0 {
		faults.Forbidden("spec.ephemeralContainers", "cannot be set on create")
	}
	if rules.String(spec, "nodeName") != "" && len(rules.Items(spec, "schedulingGates")) > 0 {
		faults.Forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
	}
}

// preparePod sets the first status, and keeps status out of writes of the main resource.
func preparePod(obj, old schema.Tree) {
	if old != nil {
		rules.CopyField(obj, old, "status")
		return
	}
	obj["status"] = schema.Tree{"phase": "Pending", "qosClass": qosClass(rules.Nested(obj, "spec"))}
}

// defaultHostPorts gives the ports of a Pod in its node's network the same number there.
func defaultHostPorts(spec schema.Tree) {
	if !rules.Bool(spec, "hostNetwork") {
		return
	}
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, c := range rules.Trees(spec, list) {
			for _, p := range rules.Trees(c, "ports") {
				port, ok := rules.Int(p, "containerPort")
				if host, _ := rules.Int(p, "hostPort"); ok && host == 0 {
					p["hostPort"] = port
				}
			}
		}
	}
}

// defaultRequests asks for what the limits allow where nothing is asked for.
func defaultRequests(spec schema.Tree) {
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range rules.Trees(spec, list) {
			for key, limit := range rules.Nested(c, "resources", "limits") {
				if requests := rules.EnsureNested(c, "resources", "requests"); requests[key] == nil {
					requests[key] = limit
				}
			}
		}
	}
}

func defaultPriority(spec schema.Tree) {
	setIfEmpty(spec, "preemptionPolicy", "PreemptLowerPriority")
	if rules.String(spec, "priorityClassName") == "" {
		setIfEmpty(spec, "priority", int64(0))
	}
}

// tolerationSeconds is how long a Pod stays on a node that fails, unless it says otherwise.
const tolerationSeconds = 300

// defaultTolerations lets the Pod outlive short failures of its node. A toleration
// that covers a taint already, by key or by none, is left as it is.
func defaultTolerations(spec schema.Tree, taints []string) {
	for _, taint := range taints {
		covered := slices.ContainsFunc(rules.Trees(spec, "tolerations"), func(t schema.Tree) bool {
			key, effect := rules.String(t, "key"), rules.String(t, "effect")
			return (key == taint || key == "") && (effect == "NoExecute" || effect == "")
		})
		if covered {
			continue
		}
		spec["tolerations"] = append(slices.Clone(rules.Items(spec, "tolerations")), schema.Tree{
			"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(tolerationSeconds),
		})
	}
}

// qosClass sorts a Pod by how firmly it asks for cpu and memory: Guaranteed if each
// container's requests equal its limits, BestEffort if none asks, else Burstable.
func qosClass(spec schema.Tree) string {
	asked, guaranteed := false, true
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range rules.Trees(spec, list) {
			requests, limits := rules.Nested(c, "resources", "requests"), rules.Nested(c, "resources", "limits")
			for _, key := range []string{"cpu", "memory"} {
				request, limit := rules.String(requests, key), rules.String(limits, key)
				asked = asked || positive(request) || positive(limit)
				if !positive(limit) || quantity.Compare(request, limit) != 0 {
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

func positive(q string) bool { return quantity.Compare(q, "0") > 0 }

// setIfEmpty sets a field that is absent or "".
func setIfEmpty(t schema.Tree, name string, v any) {
	if old := t[name]; old == nil || old == "" {
		t[name] = v
	}
}
