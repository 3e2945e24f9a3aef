package podsecurity

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// hostPathVolumes are forbidden. A path of the host can lead to the credentials of the node.
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

// A volume with a source that neither list has is of a later API; it is restricted, too.
var (
	// allowedVolumes are the sources of volumes that the restricted level allows.
	allowedVolumes = []string{
		"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
	}
	// restrictedVolumeTypes are the others.
	restrictedVolumeTypes = []string{
		"hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd", "flexVolume",
		"cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk",
		"portworxVolume", "scaleIO", "storageos",
	}
)

// restrictedVolumes must not be used: only what is in the namespace, and drivers of the cluster.
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
