package catalog

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func nodeRules() schema.Rules {
	return schema.Rules{
		Default:        defaultNode,
		Prepare:        prepareNode,
		Validate:       validateNode,
		ValidateUpdate: validateNodeUpdate,
	}
}

// defaultNode: what can be allocated is all there is, unless the node says otherwise; the
// old field for one range of addresses shows the first of several, and wins over them.
func defaultNode(obj schema.Tree) {
	if status := rules.Nested(obj, "status"); status != nil && rules.Has(status, "capacity") && !rules.Has(status, "allocatable") {
		status["allocatable"] = rules.Clone(status["capacity"])
	}
	syncFirst(rules.Nested(obj, "spec"), "podCIDR", "podCIDRs")
}

// syncFirst keeps the text called one the same as the first of the list called many.
// Where they differ, one is right, and is then all there is.
func syncFirst(t schema.Tree, one, many string) {
	single, list := rules.String(t, one), rules.Strings(t, many)
	switch {
	case single != "" && (len(list) == 0 || list[0] != single):
		t[many] = []any{single}
	case single == "" && len(list) > 0:
		t[one] = list[0]
	}
}

// prepareNode drops the source of a node's settings, which nobody reads any more. A new
// node may say all about itself, also its status.
func prepareNode(obj, old schema.Tree) {
	if old != nil {
		rules.CopyField(obj, old, "status")
	}
	if spec := rules.Nested(obj, "spec"); spec != nil && !rules.Has(rules.Nested(old, "spec"), "configSource") {
		delete(spec, "configSource")
	}
}

func validateNode(obj schema.Tree, faults *schema.Faults) {
	spec, status := rules.Nested(obj, "spec"), rules.Nested(obj, "status")
	validateTaints(spec, "metadata.taints", faults)
	validatePodCIDRs(spec, "spec.podCIDRs", faults)
	for _, name := range []string{"capacity", "allocatable"} {
		validateNodeResources(rules.Nested(status, name), "status."+name, faults)
	}
	addresses := map[string]bool{}
	for i, a := range rules.Trees(status, "addresses") {
		id := rules.String(a, "type") + " " + rules.String(a, "address")
		if addresses[id] {
			faults.Duplicate(rules.IndexPath("status.addresses", i), a)
		}
		addresses[id] = true
	}
}

// validateTaints wants each pair of key and effect once. Users know the path as one below
// metadata.
func validateTaints(spec schema.Tree, path string, faults *schema.Faults) {
	seen := map[[2]string]bool{}
	for i, t := range rules.Trees(spec, "taints") {
		at, key, value := rules.IndexPath(path, i), rules.String(t, "key"), rules.String(t, "value")
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
		if msgs := rules.LabelValue(value); len(msgs) > 0 && value != "" {
			faults.Invalid(at+".value", value, strings.Join(msgs, ";"))
		}
		validateEnum(t, "effect", at, faults, "NoSchedule", "PreferNoSchedule", "NoExecute")
		pair := [2]string{key, rules.String(t, "effect")}
		if seen[pair] {
			faults.Duplicate(at, t)
		}
		seen[pair] = true
	}
}

// validatePodCIDRs checks the addresses of a node's Pods: one range for each family at most.
func validatePodCIDRs(spec schema.Tree, path string, faults *schema.Faults) {
	ranges := rules.Strings(spec, "podCIDRs")
	families := map[bool]int{}
	for i, r := range ranges {
		for _, msg := range rules.CIDR(r) {
			faults.Invalid(rules.IndexPath(path, i), r, msg)
		}
		families[strings.Contains(r, ":")]++
	}
	if families[true] > 1 || families[false] > 1 {
		faults.Invalid(path, spec["podCIDRs"], "may specify no more than one CIDR for each IP family")
	}
}

// validateNodeResources checks what a node has: whole numbers of what comes in pieces, and
// huge pages of one size.
func validateNodeResources(amounts schema.Tree, path string, faults *schema.Faults) {
	sizes := 0
	for _, key := range rules.Keys(amounts) {
		at := path + "." + key
		validateResourceQuantity(amounts, key, at, faults)
		if strings.HasPrefix(key, "hugepages-") && positive(rules.String(amounts, key)) {
			sizes++
		}
		if sizes > 1 {
			faults.Invalid(at, amounts[key], "may not have pre-allocated hugepages for multiple page sizes")
		}
	}
}

// validateResourceQuantity checks the quantity of a resource: not negative, and whole if it comes in pieces.
func validateResourceQuantity(amounts schema.Tree, name, path string, faults *schema.Faults) {
	text := rules.String(amounts, name)
	q, err := quantity.Read(text)
	if err != nil {
		return
	}
	if q.Sign() < 0 {
		faults.Invalid(path, text, nonNegativeMsg)
	}
	if isIntegerResource(name) && !q.IsInteger() {
		faults.Invalid(path, text, "must be an integer")
	}
}

// validateNodeUpdate lets labels, taints, the schedulable flag and the status change. A
// range of addresses and the provider's name are set once.
func validateNodeUpdate(obj, old schema.Tree, faults *schema.Faults) {
	spec, was := rules.Nested(obj, "spec"), rules.Nested(old, "spec")
	before := rules.Strings(was, "podCIDRs")
	if len(before) > 0 && !slices.Equal(before, rules.Strings(spec, "podCIDRs")) {
		faults.Forbidden("spec.podCIDRs", `node updates may not change podCIDR except from "" to valid`)
	}
	if id := rules.String(was, "providerID"); id != "" && id != rules.String(spec, "providerID") {
		faults.Forbidden("spec.providerID", `node updates may not change providerID except from "" to valid`)
	}
	if !rules.SemanticEqual(spec["externalID"], was["externalID"]) || !rules.SemanticEqual(spec["configSource"], was["configSource"]) {
		faults.Forbidden("", "node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)")
	}
}
