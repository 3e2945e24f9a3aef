package pod

import (
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// deprecatedSources are volume sources without a driver, in the order of warnings, with their names
// in these. Package volume has those of PersistentVolumes, whose texts and order differ.
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

// warnVolumes warns about deprecated volume sources and fractional claim sizes.
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
