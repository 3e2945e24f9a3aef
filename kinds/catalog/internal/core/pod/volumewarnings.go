package pod

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// deprecatedSources are the volumes that nothing mounts any more, in the order in which they are warned of,
// with the name that warnings have for them. PersistentVolumes have a list of their own (package volume),
// whose texts and order differ.
var deprecatedSources = [...]struct{ field, name, text string }{
	{"photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
	{"gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
	{"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
	{"flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"},
	{"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
	{"quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
	{"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
	{"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
	{"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"},
}

// warnVolumes warns of deprecated volumes, and of claims for a fraction of a byte. A volume has one source.
func (c *collector) warnVolumes() {
	for i, v := range c.spec.List("volumes") {
		volume, _ := v.(tree.Tree)
		for _, source := range deprecatedSources {
			if volume.Has(source.field) {
				c.warn(tree.IndexPath("spec.volumes", i), "."+source.name+": "+source.text)
			}
		}
		for _, text := range warning.ClaimSizes(volume.Object("ephemeral", "volumeClaimTemplate", "spec")) {
			c.warn(tree.IndexPath("spec.volumes", i), ".ephemeral.volumeClaimTemplate.spec"+text)
		}
	}
}
