package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// validateMounts checks where volumes appear as directories in a container.
func validateMounts(c schema.Tree, path string, volumes map[string]string, faults *schema.Faults) {
	devices, devicePaths := valuesOf(c, "volumeDevices", "name"), valuesOf(c, "volumeDevices", "devicePath")
	paths := map[string]bool{}
	for i, m := range rules.Trees(c, "volumeMounts") {
		at := rules.At(path, i)
		name, place := rules.Text(m, "name"), rules.Text(m, "mountPath")
		if _, ok := volumes[name]; !ok && name != "" {
			faults.NotFound(at+".name", name)
		}
		if paths[place] && place != "" {
			faults.Invalid(at+".mountPath", place, "must be unique")
		}
		paths[place] = true
		if devices[name] {
			faults.Invalid(at+".name", name, "must not already exist in volumeDevices")
		}
		if devicePaths[place] {
			faults.Invalid(at+".mountPath", place, "must not already exist as a path in volumeDevices")
		}
		validateMount(m, at, rules.Flag(rules.Sub(c, "securityContext"), "privileged"), faults)
	}
}

// validateMount checks the settings of one mount.
func validateMount(m schema.Tree, path string, privileged bool, faults *schema.Faults) {
	formatted(m, "subPath", path, faults, rules.RelativePath)
	formatted(m, "subPathExpr", path, faults, rules.RelativePath)
	if rules.Text(m, "subPath") != "" && rules.Text(m, "subPathExpr") != "" {
		faults.Invalid(path+".subPathExpr", rules.Text(m, "subPathExpr"), "subPathExpr and subPath are mutually exclusive")
	}
	if rules.Text(m, "mountPropagation") == "Bidirectional" && !privileged {
		faults.Forbidden(path+".mountPropagation", "Bidirectional mount propagation is available only to privileged containers")
	}
	optionalChoice(m, "recursiveReadOnly", path, faults, "Disabled", "Enabled", "IfPossible")
	recursive := rules.Text(m, "recursiveReadOnly")
	if recursive != "Enabled" && recursive != "IfPossible" {
		return
	}
	if !rules.Flag(m, "readOnly") {
		faults.Forbidden(path+".recursiveReadOnly", "may only be specified when readOnly is true")
	}
	if propagation := rules.Text(m, "mountPropagation"); propagation != "" && propagation != "None" {
		faults.Forbidden(path+".recursiveReadOnly", "may only be specified when mountPropagation is None or not specified")
	}
}

// validateDevicePaths checks where volumes appear as block devices in a container: only
// claims can.
func validateDevicePaths(c schema.Tree, path string, volumes map[string]string, faults *schema.Faults) {
	mounts, mountPaths := valuesOf(c, "volumeMounts", "name"), valuesOf(c, "volumeMounts", "mountPath")
	names, paths := map[string]bool{}, map[string]bool{}
	for i, d := range rules.Trees(c, "volumeDevices") {
		at := rules.At(path, i)
		name, place := rules.Text(d, "name"), rules.Text(d, "devicePath")
		if names[name] && name != "" {
			faults.Invalid(at+".name", name, "must be unique")
		}
		switch source, ok := volumes[name]; {
		case !ok && name != "":
			faults.NotFound(at+".name", name)
		case ok && source != "persistentVolumeClaim" && source != "ephemeral":
			faults.Invalid(at+".name", name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		if paths[place] && place != "" {
			faults.Invalid(at+".devicePath", place, "must be unique")
		}
		if len(rules.NoDotDot(place)) > 0 {
			faults.Invalid(at+".devicePath", place, "can not contain backsteps ('..')")
		}
		names[name], paths[place] = true, true
		if mounts[name] {
			faults.Invalid(at+".name", name, "must not already exist in volumeMounts")
		}
		if mountPaths[place] {
			faults.Invalid(at+".devicePath", place, "must not already exist as a path in volumeMounts")
		}
	}
}

// valuesOf is the set of texts called name in a list of objects, without "".
func valuesOf(t schema.Tree, list, name string) map[string]bool {
	values := map[string]bool{}
	for _, e := range rules.Trees(t, list) {
		if s := rules.Text(e, name); s != "" {
			values[s] = true
		}
	}
	return values
}
