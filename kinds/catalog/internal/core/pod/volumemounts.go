package pod

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateMounts checks the volume mounts of a container.
//
// A volume is either mounted or handed over as a device in one container, and each path has one thing at it.
func validateMounts(c tree.Tree, path string, volumes map[string]string, faults *schema.Faults) {
	devices := pathsByName(c, "volumeDevices", "devicePath")
	devicePaths := setOfValues(devices)
	paths := map[string]bool{}
	privileged := c.Object("securityContext").Bool("privileged")
	for i, m := range c.Objects("volumeMounts") {
		at := tree.IndexPath(path, i)
		name, mountPath := m.String("name"), m.String("mountPath")
		if _, ok := volumes[name]; !ok {
			faults.NotFound(at+".name", name)
		}
		if paths[mountPath] {
			faults.Invalid(at+".mountPath", mountPath, "must be unique")
		}
		paths[mountPath] = true
		if _, also := devices[name]; also {
			faults.Invalid(at+".name", name, "must not already exist in volumeDevices")
		}
		if devicePaths[mountPath] {
			faults.Invalid(at+".mountPath", mountPath, "must not already exist as a path in volumeDevices")
		}
		if m.String("subPath") != "" && m.String("subPathExpr") != "" {
			faults.Invalid(at+".subPathExpr", m.String("subPathExpr"), "subPathExpr and subPath are mutually exclusive")
		}
		validateMount(m, path, privileged, faults)
	}
}

// validateMount checks the settings of one mount. The paths of its faults have no index, as clients know them.
//
// Bidirectional propagation changes the mounts of the host, which is for privileged containers only.
func validateMount(m tree.Tree, path string, privileged bool, faults *schema.Faults) {
	field.Format(m, "subPath", path, faults, rules.RelativePath)
	field.Format(m, "subPathExpr", path, faults, rules.RelativePath)
	propagation, given := m["mountPropagation"].(string)
	switch {
	case given && !slices.Contains(mountPropagations, propagation):
		faults.NotSupported(path+".mountPropagation", propagation, mountPropagations)
	case propagation == "Bidirectional" && !privileged:
		faults.Forbidden(path+".mountPropagation", "Bidirectional mount propagation is available only to privileged containers")
	}
	recursive, given := m["recursiveReadOnly"].(string)
	switch {
	case !given || recursive == "Disabled":
		return
	case recursive != "Enabled" && recursive != "IfPossible":
		faults.NotSupported(path+".recursiveReadOnly", recursive, []string{"Disabled", "Enabled", "IfPossible"})
		return
	}
	if !m.Bool("readOnly") {
		faults.Forbidden(path+".recursiveReadOnly", "may only be specified when readOnly is true")
	}
	if propagation != "" && propagation != "None" {
		faults.Forbidden(path+".recursiveReadOnly", "may only be specified when mountPropagation is None or not specified")
	}
}

var mountPropagations = []string{"Bidirectional", "HostToContainer", "None"}

// validateDevicePaths checks the volume devices of a container. Only claims can be block devices. A device
// is a disk without a file system, which none of the other sources has. The conflicts with mounts are
// reported from this side too, with the paths of the devices.
func validateDevicePaths(c tree.Tree, path string, volumes map[string]string, faults *schema.Faults) {
	mounts := pathsByName(c, "volumeMounts", "mountPath")
	mountPaths := setOfValues(mounts)
	names, paths := map[string]bool{}, map[string]bool{}
	for i, d := range c.Objects("volumeDevices") {
		at := tree.IndexPath(path, i)
		name, devicePath := d.String("name"), d.String("devicePath")
		if names[name] && name != "" {
			faults.Invalid(at+".name", name, "must be unique")
		}
		switch source, ok := volumes[name]; {
		case !ok:
			faults.NotFound(at+".name", name)
		case source != "persistentVolumeClaim" && source != "ephemeral":
			faults.Invalid(at+".name", name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		if paths[devicePath] && devicePath != "" {
			faults.Invalid(at+".devicePath", devicePath, "must be unique")
		}
		if len(rules.NoDotDot(devicePath)) > 0 {
			faults.Invalid(at+".devicePath", devicePath, "can not contain backsteps ('..')")
		}
		names[name], paths[devicePath] = true, true
		if _, also := mounts[name]; also {
			faults.Invalid(at+".name", name, "must not already exist in volumeMounts")
		}
		if mountPaths[devicePath] {
			faults.Invalid(at+".devicePath", devicePath, "must not already exist as a path in volumeMounts")
		}
	}
}

// pathsByName are the paths of the mounts or devices of a container, by the names of their volumes. Of several of one volume the
// last counts.
func pathsByName(c tree.Tree, list, path string) map[string]string {
	paths := map[string]string{}
	for _, m := range c.Objects(list) {
		paths[m.String("name")] = m.String(path)
	}
	return paths
}

func setOfValues(m map[string]string) map[string]bool {
	set := make(map[string]bool, len(m))
	for _, value := range m {
		set[value] = true
	}
	return set
}
