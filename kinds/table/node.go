package table

import (
	"cmp"
	"slices"
	"strings"
)

func showNodeStatus(r *row, _ string) string {
	s := "Unknown"
	for c := range r.json.At("status.conditions").Items {
		if c.Field("type").Text() != "Ready" {
			continue
		}
		if s = "NotReady"; c.Field("status").Text() == "True" {
			s = "Ready"
		}
		break
	}
	if r.json.At("spec.unschedulable").IsTrue() {
		s += ",SchedulingDisabled"
	}
	return s
}

// showNodeRoles lists roles from label keys with the role prefix and from the role label. Both
// node-role.platform.io/worker and platform.io/role=worker show "worker".
func showNodeRoles(r *row, _ string) string {
	prefix, label := r.naming.Translate("node-role.platform.io")+"/", r.naming.Translate("platform.io/role")
	var roles []string
	for _, l := range r.object.Meta.Labels {
		role, ok := strings.CutPrefix(l.Key, prefix)
		if !ok && l.Key == label {
			role, ok = l.Value, true
		}
		if ok && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	roles = slices.Compact(roles)
	return cmp.Or(strings.Join(roles, ","), none)
}

func showNodeInternalIP(r *row, _ string) string {
	return cmp.Or(nodeAddress(r, "InternalIP"), none)
}

func showNodeExternalIP(r *row, _ string) string {
	return cmp.Or(nodeAddress(r, "ExternalIP"), none)
}

func showNodeKernel(r *row, _ string) string {
	info := r.json.At("status.nodeInfo")
	kernel := cmp.Or(info.Field("kernelVersion").Text(), unknown)
	if machine := info.Field("architecture").Text(); machine != "" {
		kernel += " (" + machine + ")"
	}
	return kernel
}

// nodeAddress returns the first address of a type. A Node may have one per IP family.
func nodeAddress(r *row, kind string) string {
	for a := range r.json.At("status.addresses").Items {
		if a.Field("type").Text() == kind {
			return a.Field("address").Text()
		}
	}
	return ""
}
