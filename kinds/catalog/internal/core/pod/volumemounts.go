package pod

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateMounts checks the volume mounts of a container.
//
// A volume is either mounted or handed over as a device in one container, and each path has one thing at it.
func validateMounts(c tree.Tree, path string, volumes map[string]string, faults *schema.Faults) {
	devices, devicePaths := stringSet(c, "volumeDevices", "name"), stringSet(c, "volumeDevices", "devicePath")
	paths := map[string]bool{}
	for i, m := range c.Objects("volumeMounts") {
		at := tree.IndexPath(path, i)
		name, mountPath := m.String("name"), m.String("mountPath")
		if _, ok := volumes[name]; !ok && name != "" {
			faults.NotFound(at+".name", name)
		}
		if paths[mountPath] && mountPath != "" {
			faults.Invalid(at+".mountPath", mountPath, "must be unique")
		}
		paths[mountPath] = true
		if devices[name] {
			faults.Invalid(at+".name", name, "must not already exist in volumeDevices")
		}
		if devicePaths[mountPath] {
			faults.Invalid(at+".mountPath", mountPath, "must not already exist as a path in volumeDevices")
		}
		validateMount(m, at, c.Object("securityContext").Bool("privileged"), faults)
	}
}

// validateMount checks the settings of one mount.
//
// Bidirectional propagation changes the mounts of the host, which is for privileged containers only.
func validateMount(m tree.Tree, path string, privileged bool, faults *schema.Faults) {
	field.Format(m, "subPathExpr", path, faults, rules.RelativePath)
	if m.String("subPath") != "" && m.String("subPathExpr") != "" {
		faults.Invalid(path+".subPathExpr", m.String("subPathExpr"), "subPathExpr and subPath are mutually exclusive")
	}
	if m.String("mountPropagation") == "Bidirectional" && !privileged {
		faults.Forbidden(path+".mountPropagation", "Bidirectional mount propagation is available only to privileged containers")
	}
	recursive := m.String("recursiveReadOnly")
	if recursive != "Enabled" && recursive != "IfPossible" {
		return
	}
	if !m.Bool("readOnly") {
		faults.Forbidden(path+".recursiveReadOnly", "may only be specified when readOnly is true")
	}
	if propagation := m.String("mountPropagation"); propagation != "" && propagation != "None" {
		faults.Forbidden(path+".recursiveReadOnly", "may only be specified when mountPropagation is None or not specified")
	}
}

// validateDevicePaths checks the volume devices of a container. Only claims can be block devices. A device
// is a disk without a file system, which none of the other sources has. The conflicts with mounts are
// reported from this side too, with the paths of the devices.
func validateDevicePaths(c tree.Tree, path string, volumes map[string]string, faults *schema.Faults) {
	mounts, mountPaths := stringSet(c, "volumeMounts", "name"), stringSet(c, "volumeMounts", "mountPath")
	names, paths := map[string]bool{}, map[string]bool{}
	for i, d := range c.Objects("volumeDevices") {
		at := tree.IndexPath(path, i)
		name, devicePath := d.String("name"), d.String("devicePath")
		if names[name] && name != "" {
			faults.Invalid(at+".name", name, "must be unique")
		}
		switch source, ok := volumes[name]; {
		case !ok && name != "":
			faults.NotFound(at+".name", name)
		case ok && source != "persistentVolumeClaim" && source != "ephemeral":
			faults.Invalid(at+".name", name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		if paths[devicePath] && devicePath != "" {
			faults.Invalid(at+".devicePath", devicePath, "must be unique")
		}
		if len(rules.NoDotDot(devicePath)) > 0 {
			faults.Invalid(at+".devicePath", devicePath, "can not contain backsteps ('..')")
		}
		names[name], paths[devicePath] = true, true
		if mounts[name] {
			faults.Invalid(at+".name", name, "must not already exist in volumeMounts")
		}
		if mountPaths[devicePath] {
			faults.Invalid(at+".devicePath", devicePath, "must not already exist as a path in volumeMounts")
		}
	}
}

// stringSet collects the field name of the objects in a list, without "".
func stringSet(t tree.Tree, list, name string) map[string]bool {
	values := map[string]bool{}
	for _, e := range t.Objects(list) {
		if s := e.String(name); s != "" {
			values[s] = true
		}
	}
	return values
}
