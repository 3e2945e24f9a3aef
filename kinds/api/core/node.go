package core

import (
	"maps"
	"strings"

	"github.com/troupe-api/troupe/kinds/api/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// nodeStrategy validates little of the status, because rejecting a kubelet's write would lose
// all information about the node.
type nodeStrategy struct{ schema.AlwaysWarns }

// Default sets a missing allocatable to capacity, because schedulers read only allocatable. It
// keeps podCIDR equal to the first item of podCIDRs.
func (nodeStrategy) Default(obj tree.Tree) {
	if status := obj.Object("status"); status != nil && status.Has("capacity") && !status.Has("allocatable") {
		status["allocatable"] = tree.Clone(status["capacity"])
	}
	syncFirst(obj.Object("spec"), "podCIDR", "podCIDRs")
}

// writeNodeStatus drops config, which is no longer supported, unless the stored status has it.
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

// syncFirst keeps a field (one) equal to the first item of a list field (many). If they differ, the
// field replaces the list, because clients without dual-stack support change only the field and
// send the list back unchanged.
func syncFirst(t tree.Tree, one, many string) {
	single, list := t.String(one), t.Strings(many)
	switch {
	case single != "" && (len(list) == 0 || list[0] != single):
		t[many] = []any{single}
	case single == "" && len(list) > 0:
		t[one] = list[0]
	}
}

// Prepare drops a new configSource, which is no longer supported. A create may set the status.
// Other writes of the main resource keep the status.
func (nodeStrategy) Prepare(obj, old tree.Tree) {
	if old != nil {
		obj.CopyField(old, "status")
	}
	if spec := obj.Object("spec"); spec != nil && !old.Object("spec").Has("configSource") {
		delete(spec, "configSource")
	}
}

// validateNodeResources requires integers for indivisible resources, and at most one huge page
// size. As in kube-apiserver, each resource from the second size on is reported.
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
