package core

import (
	"maps"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
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
