package resource

import (
	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/scheduling"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// writeClaimStatus replaces the status of a claim. What drivers say of a device goes with the device: whoever takes it
// away need not know what they say.
func writeClaimStatus(obj, body tree.Tree, _ string, faults *schema.Faults) error {
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
	names := requestNames(obj.Object("spec", "devices"))
	validateReservations(status, was, obj.Object("metadata").Has("deletionTimestamp"), faults)
	for i, device := range status.Objects("devices") {
		at := tree.IndexPath("status.devices", i)
		validateDeviceStatus(device, at, faults)
		if name := sharedDevice(device); !has[name] {
			faults.Invalid(at, name, "must be an allocated device in the claim")
		}
	}
	switch allocation, before := status.Object("allocation"), was.Object("allocation"); {
	case allocation == nil:
	case before != nil:
		if !tree.StrictEqual(allocation, before) {
			faults.Invalid("status.allocation", allocation, "field is immutable")
		}
	default:
		validateAllocation(allocation, names, faults)
	}
	return nil
}

// allocatedDevices are the devices that a claim has.
func allocatedDevices(status tree.Tree) map[string]bool {
	all := map[string]bool{}
	for _, result := range status.Object("allocation", "devices").Objects("results") {
		all[sharedDevice(result)] = true
	}
	return all
}

// sharedDevice names a device, or the share of one.
func sharedDevice(t tree.Tree) string {
	name := t.String("driver") + "/" + t.String("pool") + "/" + t.String("device")
	if share := t.String("shareID"); share != "" {
		name += "/" + share
	}
	return name
}

// validateReservations refuses new users of a claim that is being deleted: its devices are about to be given back.
func validateReservations(status, was tree.Tree, deleted bool, faults *schema.Faults) {
	if !deleted || !status.Has("allocation") {
		return
	}
	before := was.List("reservedFor")
	for _, user := range status.List("reservedFor") {
		if !containsEqual(before, user) {
			faults.Forbidden("status.reservedFor", "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set")
			return
		}
	}
}

func containsEqual(list []any, v any) bool {
	for _, have := range list {
		if tree.StrictEqual(have, v) {
			return true
		}
	}
	return false
}

// validateAllocation checks what the scheduler gives to a claim. It is not checked again, since it cannot change.
func validateAllocation(allocation tree.Tree, names map[string]bool, faults *schema.Faults) {
	devices := allocation.Object("devices")
	for i, result := range devices.Objects("results") {
		at := tree.IndexPath("status.allocation.devices.results", i)
		if name := result.String("request"); !names[name] {
			faults.Invalid(at+".request", name, notARequest)
		}
		validateDeviceName(result, at, faults)
	}
	for i, c := range devices.Objects("config") {
		at := tree.IndexPath("status.allocation.devices.config", i)
		field.Enum(c, "source", at, faults, "FromClaim", "FromClass")
		validateRequestNames(c, at+".requests", names, faults)
		validateDeviceConfig(c, at, faults)
	}
	if selector := allocation.Object("nodeSelector"); selector != nil {
		scheduling.ValidateNodeSelector(selector, "status.allocation.nodeSelector", faults)
	}
}

// validateDeviceName checks the three parts by which a device is known, and the share.
func validateDeviceName(t tree.Tree, path string, faults *schema.Faults) {
	field.Require(t, path, faults, "driver", "pool", "device")
	if len(t.String("driver")) > 63 {
		faults.TooLong(path+".driver", 63)
	}
	field.Format(t, "driver", path, faults, rules.Subdomain)
	validatePoolName(t.String("pool"), path+".pool", faults)
	field.Format(t, "device", path, faults, rules.Label)
}

// validateDeviceStatus checks what a driver says of a device.
func validateDeviceStatus(device tree.Tree, path string, faults *schema.Faults) {
	validateDeviceName(device, path, faults)
	if n := len(device.List("conditions")); n > maxDeviceConditions {
		faults.TooMany(path+".conditions", n, maxDeviceConditions)
	}
	field.Conditions(device, path+".conditions", faults)
	if v := device["data"]; v != nil && device.Object("data") == nil {
		faults.InvalidOmitValue(path+".data", "must be a valid JSON object")
	}
	seen := map[string]bool{}
	for i, text := range device.Object("networkData").Strings("ips") {
		at := tree.IndexPath(path+".networkData.ips", i)
		if seen[text] {
			faults.Duplicate(at, text)
		}
		seen[text] = true
		prefix, err := address.ParsePrefix(text)
		switch {
		case err != nil:
			faults.Invalid(at, text, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")
		case prefix.String() != text:
			faults.Invalid(at, text, `must be in canonical form ("`+prefix.String()+`")`)
		}
	}
}

// maxDeviceConditions is how many conditions a device of a claim may have.
const maxDeviceConditions = 8
