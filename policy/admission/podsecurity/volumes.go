package podsecurity

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// hostPathVolumes forbids host paths, because they may expose node credentials.
func hostPathVolumes(p *pod) (reason, detail string) {
	var names []string
	for _, v := range p.spec.Objects("volumes") {
		if v.Has("hostPath") {
			names = append(names, v.String("name"))
		}
	}
	if len(names) == 0 {
		return "", ""
	}
	return "hostPath volumes", volumesText(names)
}

func volumesText(names []string) string {
	return plural("volume ", "volumes ", len(names)) + quoted(names)
}

// Volume sources in neither list come from newer APIs and are forbidden, too.
var (
	allowedVolumes = []string{
		"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
	}
	restrictedVolumeTypes = []string{
		"hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd", "flexVolume",
		"cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk",
		"portworxVolume", "scaleIO", "storageos",
	}
)

// restrictedVolumes allows only volumes of the namespace's own objects or of a volume driver.
func restrictedVolumes(p *pod) (reason, detail string) {
	var names, types []string
	for _, v := range p.spec.Objects("volumes") {
		if !slices.ContainsFunc(allowedVolumes, v.Has) {
			names, types = append(names, v.String("name")), append(types, restrictedVolumeType(v))
		}
	}
	if len(names) == 0 {
		return "", ""
	}
	types = sortedSet(types)
	return "restricted volume types", volumesText(names) + plural(" uses ", " use ", len(names)) +
		plural("restricted volume type ", "restricted volume types ", len(types)) + quoted(types)
}

func restrictedVolumeType(volume tree.Tree) string {
	if i := slices.IndexFunc(restrictedVolumeTypes, volume.Has); i >= 0 {
		return restrictedVolumeTypes[i]
	}
	return "unknown"
}
