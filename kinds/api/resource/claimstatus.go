package resource

import (
	"maps"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// writeStatus replaces the status of a claim. When a client deallocates a device, the driver's
// status of that device is dropped.
func (s resourceClaimStrategy) writeStatus(obj, body tree.Tree, _ string, faults *schema.Faults) error {
	old := maps.Clone(obj)
	was := obj.Object("status")
	obj.CopyField(body, "status")
	status := obj.Object("status")
	if status == nil {
		return nil
	}
	has, had := allocatedDevices(status), allocatedDevices(was)
	if all := status.Objects("devices"); len(all) > 0 {
		kept := make([]any, 0, len(all))
		for _, device := range all {
			if name := sharedDevice(device); has[name] || !had[name] {
				kept = append(kept, device)
			}
		}
		if status["devices"] = kept; len(kept) == 0 {
			delete(status, "devices")
		}
	}
	s.claim.Message().Checks().Status.Run(obj, old, "", faults)
	return nil
}

func allocatedDevices(status tree.Tree) map[string]bool {
	all := map[string]bool{}
	for _, result := range status.Object("allocation", "devices").Objects("results") {
		all[sharedDevice(result)] = true
	}
	return all
}

func sharedDevice(t tree.Tree) string {
	name := t.String("driver") + "/" + t.String("pool") + "/" + t.String("device")
	if share := t.String("shareID"); share != "" {
		name += "/" + share
	}
	return name
}

func validateDeviceAddress(text, path string, faults *schema.Faults) {
	prefix, err := address.ParsePrefix(text)
	switch {
	case err != nil:
		faults.Invalid(path, text, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")
	case prefix.String() != text:
		faults.Invalid(path, text, `must be in canonical form ("`+prefix.String()+`")`)
	}
}
