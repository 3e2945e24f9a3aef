package core

import (
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// nodeStrategy trusts most of the status: the kubelet writes it, and a fault would make a node go
// dark instead of being reported with what is known about it.
type nodeStrategy struct {
	family.AlwaysWarns
	addresses warning.Addresses
	unused    string // the warning about externalID
}

// Default takes the capacity as allocatable where the node reports nothing else, and keeps podCIDR
// equal to the first of podCIDRs. Schedulers read only allocatable, so a node that reserves nothing
// for its system need not repeat itself.
func (nodeStrategy) Default(obj tree.Tree) {
	if status := obj.Object("status"); status != nil && status.Has("capacity") && !status.Has("allocatable") {
		status["allocatable"] = tree.Clone(status["capacity"])
	}
	syncFirst(obj.Object("spec"), "podCIDR", "podCIDRs")
}

// writeNodeStatus replaces the status. Its config is no longer supported, and kept only where it was.
func writeNodeStatus(obj, body tree.Tree, _ string, _ *schema.Faults) error {
	used := obj.Object("status").Has("config")
	obj.CopyField(body, "status")
	if status := obj.Object("status"); !used && status.Has("config") {
		status = maps.Clone(status)
		delete(status, "config")
		obj["status"] = status
	}
	return nil
}

// syncFirst keeps the field named one equal to the first item of the list named many. Where they differ,
// one wins, and the list becomes that single item. The single one wins because a client from before
// dual-stack knows only it: had it changed the field, the list it sent back would still be that of the
// previous state.
func syncFirst(t tree.Tree, one, many string) {
	single, list := t.String(one), t.Strings(many)
	switch {
	case single != "" && (len(list) == 0 || list[0] != single):
		t[many] = []any{single}
	case single == "" && len(list) > 0:
		t[one] = list[0]
	}
}

// Prepare drops configSource, which is no longer supported, from nodes that did not have it. A
// new node may bring its status; later writes of the main resource keep the status as it is.
func (nodeStrategy) Prepare(obj, old tree.Tree) {
	if old != nil {
		obj.CopyField(old, "status")
	}
	if spec := obj.Object("spec"); spec != nil && !old.Object("spec").Has("configSource") {
		delete(spec, "configSource")
	}
}

// Validate checks resources below both names since the kubelet and, for extended resources, a patch
// by an operator write them.
func (nodeStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec, status := obj.Object("spec"), obj.Object("status")
	validateTaints(spec, "metadata.taints", faults)
	validatePodCIDRs(spec, "spec.podCIDRs", faults)
	for _, name := range []string{"capacity", "allocatable"} {
		validateNodeResources(status.Object(name), "status."+name, faults)
	}
	addresses := map[string]bool{}
	for i, a := range status.Objects("addresses") {
		id := a.String("type") + " " + a.String("address")
		if addresses[id] {
			faults.Duplicate(tree.IndexPath("status.addresses", i), a)
		}
		addresses[id] = true
	}
}

// validateTaints checks the taints, each pair of key and effect at most once. Clients expect the faults
// below metadata, although taints are in spec. Taints are keyed by that pair, as kubectl does when it
// removes "key:effect-". The same key with another effect is another taint.
func validateTaints(spec tree.Tree, path string, faults *schema.Faults) {
	seen := map[[2]string]bool{}
	for i, t := range spec.Objects("taints") {
		at, key, value := tree.IndexPath(path, i), t.String("key"), t.String("value")
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
		if msgs := rules.LabelValue(value); len(msgs) > 0 && value != "" {
			faults.Invalid(at+".value", value, strings.Join(msgs, ";"))
		}
		field.Enum(t, "effect", at, faults, "NoSchedule", "PreferNoSchedule", "NoExecute")
		pair := [2]string{key, t.String("effect")}
		if seen[pair] {
			faults.Duplicate(at, t)
		}
		seen[pair] = true
	}
}

// validatePodCIDRs checks the addresses of a node's Pods: one range for each family at most. The format of
// each range is declared.
func validatePodCIDRs(spec tree.Tree, path string, faults *schema.Faults) {
	ranges := spec.Strings("podCIDRs")
	families := map[bool]int{}
	for _, r := range ranges {
		p, err := address.ParsePrefix(r)
		if err != nil {
			return
		}
		families[p.Addr().Is6()]++
	}
	if families[true] > 1 || families[false] > 1 {
		faults.Invalid(path, spec["podCIDRs"], "may specify no more than one CIDR for each IP family")
	}
}

// validateNodeResources checks the resources of a node: integers where a resource cannot be divided, and
// huge pages of one size only. Once a second size was seen, each name after it is reported as well, as
// clients know it.
func validateNodeResources(amounts tree.Tree, path string, faults *schema.Faults) {
	sizes := 0
	for _, key := range amounts.SortedKeys() {
		at := path + "." + key
		resourcelist.ValidateQuantity(amounts, key, at, faults)
		if strings.HasPrefix(key, "hugepages-") && resourcelist.IsPositive(amounts.String(key)) {
			sizes++
		}
		if sizes > 1 {
			faults.Invalid(at, amounts[key], "may not have pre-allocated hugepages for multiple page sizes")
		}
	}
}

// ValidateUpdate refuses changes of podCIDRs and of providerID once they are set, and of the fields
// that are no longer supported. Network plugins configure interfaces by podCIDR, and the cloud's
// controller finds the machine by providerID: changed under them, addresses of running Pods would
// overlap, or the wrong machine would be deleted. Who must change them deletes the Node and lets
// the kubelet register again.
func (nodeStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	spec, was := obj.Object("spec"), old.Object("spec")
	before := was.Strings("podCIDRs")
	if len(before) > 0 && !slices.Equal(before, spec.Strings("podCIDRs")) {
		faults.Forbidden("spec.podCIDRs", `node updates may not change podCIDR except from "" to valid`)
	}
	if id := was.String("providerID"); id != "" && id != spec.String("providerID") {
		faults.Forbidden("spec.providerID", `node updates may not change providerID except from "" to valid`)
	}
	// The last fault has no path of its own, and names a gate that does not exist any more: this is the
	// message that clients know for it.
	if !tree.SemanticEqual(spec["externalID"], was["externalID"]) || !tree.SemanticEqual(spec["configSource"], was["configSource"]) {
		faults.Forbidden("", "node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)")
	}
}
