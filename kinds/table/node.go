package table

import (
	"cmp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

func showNodeStatus(b []byte, r *row, _ string) []byte {
	s := "Unknown"
	r.json.At("status.conditions").Items(func(c jsontext.Value) bool {
		if c.Field("type").Text() != "Ready" {
			return true
		}
		if s = "NotReady"; c.Field("status").Text() == "True" {
			s = "Ready"
		}
		return false
	})
	if r.json.At("spec.unschedulable").IsTrue() {
		s += ",SchedulingDisabled"
	}
	return jsontext.AppendString(b, s)
}

// showNodeRoles lists roles from label keys with the role prefix and from the role label. Both
// node-role.platform.io/worker and platform.io/role=worker show "worker".
func showNodeRoles(b []byte, r *row, _ string) []byte {
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
	return appendOr(b, strings.Join(roles, ","), none)
}

func showNodeInternalIP(b []byte, r *row, _ string) []byte {
	return appendOr(b, nodeAddress(r, "InternalIP"), none)
}

func showNodeExternalIP(b []byte, r *row, _ string) []byte {
	return appendOr(b, nodeAddress(r, "ExternalIP"), none)
}

func showNodeKernel(b []byte, r *row, _ string) []byte {
	info := r.json.At("status.nodeInfo")
	kernel := cmp.Or(info.Field("kernelVersion").Text(), unknown)
	if machine := info.Field("architecture").Text(); machine != "" {
		kernel += " (" + machine + ")"
	}
	return jsontext.AppendString(b, kernel)
}

// nodeAddress returns the first address of a type. A Node may have one per IP family.
func nodeAddress(r *row, kind string) (address string) {
	r.json.At("status.addresses").Items(func(a jsontext.Value) bool {
		if a.Field("type").Text() == kind {
			address = a.Field("address").Text()
		}
		return address == ""
	})
	return address
}
