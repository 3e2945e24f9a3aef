package present

import (
	"slices"
	"strings"
)

func showNodeStatus(b []byte, r *row, _ string) []byte {
	s := "Unknown"
	r.json.at("status.conditions").items(func(c value) bool {
		if c.field("type").text() != "Ready" {
			return true
		}
		if s = "NotReady"; c.field("status").text() == "True" {
			s = "Ready"
		}
		return false
	})
	if r.json.at("spec.unschedulable").isTrue() {
		s += ",SchedulingDisabled"
	}
	return appendText(b, s)
}

// showNodeRoles lists what follows the role prefix in label keys, and the role label.
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

func nodeAddress(r *row, kind string) (address string) {
	r.json.at("status.addresses").items(func(a value) bool {
		if a.field("type").text() == kind {
			address = a.field("address").text()
		}
		return address == ""
	})
	return address
}
